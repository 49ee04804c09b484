import { Failure } from '#failure/failure.ts'
import type { Try } from '#time/retry.ts'
import type { SeqNo } from '../client/bulk-item.ts'
import type { Answer, Connection, Request } from '../client/connection.ts'
import { BLOCKED, errorOf, failureOf, isPassing, NO_WRITE_INDEX, reasonOf } from '../client/failures.ts'
import { tryAgain } from '../client/try-again.ts'
import { type Checkpoint, checkpointRequest, readCheckpoint } from '../schema/checkpoint.ts'
import type { Cluster } from '../schema/cluster.ts'

/** The checkpoint and where it stands. */
export type StoredCheckpoint = SeqNo & { readonly checkpoint: Checkpoint }

/**
 * Writes the checkpoint if it still stands where it was seen; undefined: somebody else wrote it. After an unclear
 * answer the same compare-and-set is sent again: either it was not carried out, then it may be now, or it was, then it
 * is refused and the checkpoint carries this write's name.
 */
export const compareAndSet = async (
  cluster: Cluster,
  next: Omit<Checkpoint, 'write'>,
  stand: SeqNo | undefined,
): Promise<StoredCheckpoint | undefined> => {
  const { names } = cluster
  const checkpoint = { ...next, write: crypto.randomUUID() }
  const request = { ...checkpointRequest(names, checkpoint, stand), timeoutMs: cluster.writeTimeoutMs }
  return tryAgain(cluster, async (): Promise<Try<StoredCheckpoint | undefined>> => {
    const answer = await sendOnce(cluster.connection, request)
    if (typeof answer === 'string') return { again: answer }
    const written = answer.status < 300 ? writtenAs(answer) : undefined
    if (written !== undefined) return { done: { checkpoint, ...written } }
    const error = errorOf(answer)
    // Refused, or answered without its numbers: the stored checkpoint tells whether this write was carried out.
    if (answer.status === 409 || answer.status < 300)
      return afterConflict(cluster, { next, checkpoint, stand }, reasonOf(error))
    // A migration has put another generation there.
    if (answer.status === 400 && error.reason?.startsWith(NO_WRITE_INDEX)) return { done: undefined }
    if (isPassing(answer.status) || error.type === BLOCKED) return { again: reasonOf(error) }
    throw failureOf({ connection: cluster.connection, what: `write ${names.meta}` }, answer)
  })
}

type Attempt = {
  readonly next: Omit<Checkpoint, 'write'>
  readonly checkpoint: Checkpoint
  readonly stand: SeqNo | undefined
}

const afterConflict = async (
  cluster: Cluster,
  { next, checkpoint, stand }: Attempt,
  reason: string,
): Promise<Try<StoredCheckpoint | undefined>> => {
  const now = await readCheckpoint(cluster)
  // An earlier try whose answer was lost. One copy has it; only the answer to a write says that all have.
  if (now?.checkpoint.write === checkpoint.write) return { done: await compareAndSet(cluster, next, now) }
  // Otherwise nobody wrote by what this copy says: it lags, or the copy that refused is gone with what it alone had.
  return isWhere(now, stand) ? { again: reason } : { done: undefined }
}

const isWhere = (now: SeqNo | undefined, stand: SeqNo | undefined): boolean =>
  now?.seqNo === stand?.seqNo && now?.primaryTerm === stand?.primaryTerm

/** undefined: the answer to a write says nothing that can be understood. */
const writtenAs = ({ text }: Answer): SeqNo | undefined => {
  try {
    const { _seq_no, _primary_term } = JSON.parse(text)
    const known = Number.isInteger(_seq_no) && Number.isInteger(_primary_term)
    return known ? { seqNo: _seq_no, primaryTerm: _primary_term } : undefined
  } catch {
    return undefined
  }
}

/** The answer, or why there was none. */
const sendOnce = async (connection: Connection, request: Request): Promise<Answer | string> => {
  try {
    return await connection.send(request)
  } catch (error) {
    if (error instanceof Failure && error.retryable) return error.message
    throw error
  }
}
