import { Failure } from '#failure/failure.ts'
import { failureOf, isTransient } from './failures.ts'
import { parseAnswer } from './request-json.ts'
import type { Sender } from './sender.ts'
import { tryAgain } from './try-again.ts'

type Shards = { readonly _shards?: { readonly failed?: number } }

/** Makes all writes searchable on every copy; retries until that is certain. */
export const refresh = async (
  sender: Sender,
  indices: readonly string[],
  query: Readonly<Record<string, string>> = {},
): Promise<void> => {
  if (indices.length === 0) return
  await tryAgain(sender, async () => {
    const reason = await tryRefresh(sender, indices, query)
    return reason === undefined ? { done: undefined } : { retryReason: reason }
  })
}

/** undefined: done; otherwise the reason for the next attempt. */
const tryRefresh = async (
  sender: Sender,
  indices: readonly string[],
  query: Readonly<Record<string, string>>,
): Promise<string | undefined> => {
  const list = indices.join(',')
  try {
    const answer = await sender.connection.send({
      method: 'POST',
      path: `/${list}/_refresh`,
      query,
      timeoutMs: sender.writeTimeoutMs,
    })
    if (answer.status < 300) {
      const { _shards } =
        parseAnswer<Shards>({ connection: sender.connection, what: `refresh ${list}` }, answer.text) ?? {}
      return _shards?.failed === 0 ? undefined : `${_shards?.failed ?? 'some'} shards of ${list} could not be refreshed`
    }
    const failure = failureOf({ connection: sender.connection, what: `refresh ${list}` }, answer)
    if (isTransient(answer.status)) return failure.message
    throw failure
  } catch (error) {
    if (error instanceof Failure && error.retryable) return error.message
    throw error
  }
}
