import { Failure } from '#failure/failure.ts'
import type { TryResult } from '#time/retry.ts'
import { parseAnswer, requestOnce } from './request-json.ts'
import { type Sender, tryAgain } from './sender.ts'

type Shards = { readonly _shards?: { readonly failed?: number } }
type Query = Readonly<Record<string, string>>

/** Makes all writes searchable on every copy; retries until that is certain. */
export async function refresh(sender: Sender, indices: readonly string[], query: Query = {}): Promise<void> {
  if (indices.length > 0) await tryAgain(sender, () => tryRefresh(sender, indices.join(','), query))
}

async function tryRefresh(sender: Sender, list: string, query: Query): Promise<TryResult<undefined>> {
  const { connection, writeTimeoutMs: timeoutMs } = sender
  const what = `refresh ${list}`
  try {
    const answer = await requestOnce(connection, { what, method: 'POST', path: `/${list}/_refresh`, query, timeoutMs })
    const failed = parseAnswer<Shards | null>({ connection, what }, answer.text)?._shards?.failed
    return failed === 0
      ? { done: undefined }
      : { retryReason: `${failed ?? 'some'} shards of ${list} could not be refreshed` }
  } catch (error) {
    if (error instanceof Failure && error.retryable) return { retryReason: error.message }
    throw error
  }
}
