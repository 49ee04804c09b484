import { Failure } from '#failure/failure.ts'
import { unless } from '#failure/unless.ts'
import type { Node } from '#node/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import type { Context } from '../define.ts'

/** Milliseconds for which an answer of the node is shared by all requests: the chain makes a block every 500. */
const KEPT_MS = 500
/** A failure of the node is shared for longer, so that a node that is down does not slow down every request. */
const SILENCE_KEPT_MS = 5000
/** Maximum wait for data that an answer can do without. */
const TIMEOUT_MS = 300

type QueryContext = Pick<Context, 'node' | 'signal' | 'clock'>
type CachedQuery<T> = { readonly answer: Promise<T>; until: number }

/**
 * Shares a query to the node between requests: all callers get one answer while it is pending and for half a second
 * after. undefined: no node is followed, or none answers in time; the caller then answers from the store.
 */
export function sharedQuery<T>(
  query: (node: Node) => Promise<T>,
  timeoutMs = TIMEOUT_MS,
): (context: QueryContext) => Promise<T | undefined> {
  const all = new WeakMap<Node, CachedQuery<T>>()
  const answerOf = (node: Node, { elapsed }: Clock): Promise<T> => {
    const known = all.get(node)
    if (known !== undefined && elapsed() < known.until) return known.answer
    const cached: CachedQuery<T> = { answer: query(node), until: Number.POSITIVE_INFINITY }
    all.set(node, cached)
    cached.answer.then(
      () => {
        cached.until = elapsed() + KEPT_MS
      },
      () => {
        cached.until = elapsed() + SILENCE_KEPT_MS
      },
    )
    return cached.answer
  }
  return async ({ node, signal, clock }) =>
    node === undefined ? undefined : ifReachable(soon(answerOf(node, clock), signal, timeoutMs))
}

/** Result of `work`; throws 'unavailable' after `timeoutMs`, or 'deadline' when the request's own time is over. */
const soon = <T>(work: Promise<T>, signal: AbortSignal, timeoutMs: number): Promise<T> =>
  within(work, {
    signal,
    aborted: () => new Failure('deadline', 'The time limit of this request has expired.', { zh: '本次请求已超时。' }),
    ms: timeoutMs,
    late: () => new Failure('unavailable', `No node responded within ${timeoutMs} ms.`),
  })

/** The result of `query`, or undefined while no node answers: the answer then comes from the store alone. */
const ifReachable = <T>(query: Promise<T>): Promise<T | undefined> => unless(['unavailable', 'bad_block'], query)
