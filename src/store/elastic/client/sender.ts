import type { estypes } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import { retry, type TryResult } from '#time/retry.ts'
import type { ElasticConnection } from './request.ts'
import { callTyped, parseAnswer, requestOnce } from './request.ts'

export type WriteEvent =
  /** Elasticsearch accepts no writes; the writer waits and retries. */
  | { readonly type: 'blocked'; readonly reason: string }
  | { readonly type: 'unblocked' }
  /** Elasticsearch is overloaded or unreachable; the writer retries after `waitMs`. */
  | { readonly type: 'retry'; readonly reason: string; readonly waitMs: number }

/** The connection and the limits for retries of writes. */
export type Sender = {
  readonly connection: ElasticConnection
  readonly clock: Clock
  readonly onEvent: (event: WriteEvent) => void
  /** Maximum time for one answer to a write, milliseconds. */
  readonly writeTimeoutMs: number
  /** Maximum time that a write may fail without progress, milliseconds. */
  readonly retryTimeoutMs: number
  /** Throws when this loader has lost its lease; called before each retry. */
  readonly requireLease?: () => void
}

/**
 * Retries an attempt until it is done and returns its value. Each pause is a 'retry' event unless `onWait`
 * reports it. Throws 'unavailable' with the last reason after `sender.retryTimeoutMs` without progress.
 */
export function tryAgain<T>(
  { clock, retryTimeoutMs, onEvent }: Sender,
  attempt: () => Promise<TryResult<T>>,
  onWait = (reason: string, waitMs: number): void => onEvent({ type: 'retry', reason, waitMs }),
): Promise<T> {
  const timeoutError = (reason: string): Failure => new Failure('unavailable', reason)
  // Half of a pause is random, so that writers do not retry in step.
  const backoff = { firstMs: 100, longestMs: 10_000 }
  return retry({ clock, backoff, retryTimeoutMs, onWait, timeoutError }, attempt)
}

export function toRetryReason(error: unknown): string {
  if (error instanceof Failure && error.retryable) return error.message
  throw error
}

/** Makes all writes searchable on every copy; retries until that is certain. */
export async function refresh(
  sender: Sender,
  indices: readonly string[],
  query: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (indices.length === 0) return
  const { connection, writeTimeoutMs: timeoutMs } = sender
  const list = indices.join(',')
  const what = `refresh ${list}`
  type Shards = { readonly _shards?: { readonly failed?: number } }
  await tryAgain(sender, async (): Promise<TryResult<undefined>> => {
    try {
      const path = `/${list}/_refresh`
      const answer = await requestOnce(connection, { what, method: 'POST', path, query, timeoutMs })
      const failed = parseAnswer<Shards | null>({ connection, what }, answer.text)?._shards?.failed
      return failed === 0
        ? { done: undefined }
        : { retryReason: `${failed ?? 'some'} shards of ${list} could not be refreshed` }
    } catch (error) {
      return { retryReason: toRetryReason(error) }
    }
  })
}

/** Whether an index has a write block, as merged partitions do. */
export async function isReadOnly(connection: ElasticConnection, name: string, signal?: AbortSignal): Promise<boolean> {
  const question = { index: name, name: 'index.blocks.write', flat_settings: true }
  const what = `read the settings of ${name}`
  const settings = await callTyped<estypes.IndicesGetSettingsResponse>(
    connection,
    { what, signal },
    (client, options) => client.indices.getSettings(question, options),
  )
  return String(settings[name]?.settings?.['index.blocks.write']) === 'true'
}

/** Makes an index read-only after the writes under way have ended. */
export async function addWriteBlock(connection: ElasticConnection, index: string, signal?: AbortSignal): Promise<void> {
  await callTyped(connection, { what: `make ${index} read-only`, signal }, (client, options) =>
    client.indices.addBlock({ index, block: 'write' }, options),
  )
}

/** Makes indices writable again, whose names are joined by commas; missing ones are ignored. */
export async function removeWriteBlock(connection: ElasticConnection, index: string): Promise<void> {
  const settings = { blocks: { write: null } } as object
  const calling = { what: `make ${index} writable`, acceptedStatuses: [404] }
  await callTyped(connection, calling, (client, options) =>
    client.indices.putSettings({ index, settings, ignore_unavailable: true }, options),
  )
}
