import { jsonIn } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { membersOf } from '#store/published.ts'
import type { TryResult } from '#time/retry.ts'
import type { SeqNo } from '../client/bulk-item.ts'
import type { Connection } from '../client/connection.ts'
import { BLOCKED, errorOf, failureOf, isTransient, NO_WRITE_INDEX, reasonOf } from '../client/failures.ts'
import type { ElasticResponse, Request } from '../client/request.ts'
import { tryAgain } from '../client/sender.ts'
import { checkpointRequest, readCheckpoint } from '../schema/checkpoint.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'

/** The checkpoint and the sequence number of its last write. */
export type StoredCheckpoint = SeqNo & { readonly checkpoint: Checkpoint }

/**
 * Writes the checkpoint if it has not changed since it was read; undefined: another process wrote it. After an unclear
 * answer the same compare-and-set is sent again. If the first attempt was not carried out, the second one may be; if it
 * was, the second one is refused, and the stored checkpoint has the name of this write.
 */
export const compareAndSet = async (
  cluster: Cluster,
  next: Omit<Checkpoint, 'write'>,
  expected: SeqNo | undefined,
): Promise<StoredCheckpoint | undefined> => {
  const { names } = cluster
  const checkpoint = { ...next, write: crypto.randomUUID() }
  const request = { ...checkpointRequest(names, checkpoint, expected), timeoutMs: cluster.writeTimeoutMs }
  return tryAgain(cluster, async (): Promise<TryResult<StoredCheckpoint | undefined>> => {
    const answer = await sendOnce(cluster.connection, request)
    if (typeof answer === 'string') return { retryReason: answer }
    const written = answer.status < 300 ? writtenAs(answer) : undefined
    if (written !== undefined) return { done: { checkpoint, ...written } }
    const error = errorOf(answer)
    // The write was refused, or its answer lacks the sequence number: the stored checkpoint shows whether it
    // was carried out.
    if (answer.status === 409 || answer.status < 300)
      return afterConflict(cluster, { next, checkpoint, expected }, reasonOf(error))
    // A migration has replaced the generation.
    if (answer.status === 400 && error.reason?.startsWith(NO_WRITE_INDEX)) return { done: undefined }
    if (isTransient(answer.status) || error.type === BLOCKED) return { retryReason: reasonOf(error) }
    throw failureOf({ connection: cluster.connection, what: `write ${names.meta}` }, answer)
  })
}

type Attempt = {
  readonly next: Omit<Checkpoint, 'write'>
  readonly checkpoint: Checkpoint
  readonly expected: SeqNo | undefined
}

const afterConflict = async (
  cluster: Cluster,
  { next, checkpoint, expected }: Attempt,
  reason: string,
): Promise<TryResult<StoredCheckpoint | undefined>> => {
  const now = await readCheckpoint(cluster)
  // The stored write is an earlier attempt whose answer was lost. One copy has it; only the answer to a write
  // proves that all copies do.
  if (now?.checkpoint.write === checkpoint.write) return { done: await compareAndSet(cluster, next, now) }
  // If this copy shows no other write, it lags, or the copy that refused is gone with the other write.
  return isWhere(now, expected) ? { retryReason: reason } : { done: undefined }
}

const isWhere = (now: SeqNo | undefined, expected: SeqNo | undefined): boolean =>
  now?.seqNo === expected?.seqNo && now?.primaryTerm === expected?.primaryTerm

/** undefined: the answer to the write cannot be read. */
const writtenAs = ({ text }: ElasticResponse): SeqNo | undefined => {
  const { _seq_no: seqNo, _primary_term: primaryTerm } = membersOf(jsonIn(text)) ?? {}
  const isKnown = Number.isInteger(seqNo) && Number.isInteger(primaryTerm)
  return isKnown ? ({ seqNo, primaryTerm } as SeqNo) : undefined
}

/** The answer, or the reason why there is none. */
const sendOnce = async (connection: Connection, request: Request): Promise<ElasticResponse | string> => {
  try {
    return await connection.send(request)
  } catch (error) {
    if (error instanceof Failure && error.retryable) return error.message
    throw error
  }
}
