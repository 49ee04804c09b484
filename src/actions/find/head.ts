import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import type { Context } from '../define.ts'

/** An answer of the node serves all requests of this long, in milliseconds: the chain makes a block every 500. */
const KEPT_MS = 500
/** Silence of the node is kept longer, so that a node that is down does not slow every request. */
const SILENCE_KEPT_MS = 5000
/** No request waits longer for what it can do without. */
const TIMEOUT_MS = 300

type Ask = Pick<Context, 'node' | 'signal' | 'clock'>
type Kept<T> = { readonly answer: Promise<T>; until: number }

/**
 * Makes a question to the node that many requests share: while it is under way, and for half a second after, all who
 * ask get the one answer. undefined when no node is followed or none answers soon: the caller then says what is stored.
 */
export const askedOnce = <T>(
  ask: (node: Node) => Promise<T>,
  timeoutMs = TIMEOUT_MS,
): ((context: Ask) => Promise<T | undefined>) => {
  const all = new WeakMap<Node, Kept<T>>()
  const answerOf = (node: Node, { elapsed }: Clock): Promise<T> => {
    const known = all.get(node)
    if (known !== undefined && elapsed() < known.until) return known.answer
    const kept: Kept<T> = { answer: ask(node), until: Number.POSITIVE_INFINITY }
    all.set(node, kept)
    kept.answer.then(
      () => {
        kept.until = elapsed() + KEPT_MS
      },
      () => {
        kept.until = elapsed() + SILENCE_KEPT_MS
      },
    )
    return kept.answer
  }
  return async ({ node, signal, clock }) =>
    node === undefined ? undefined : whenReachable(soon(answerOf(node, clock), signal, timeoutMs))
}

/** `work`, or 'unavailable' after `timeoutMs`, or 'deadline' when the request's own time is over. */
const soon = <T>(work: Promise<T>, signal: AbortSignal, timeoutMs: number): Promise<T> =>
  within(work, {
    signal,
    aborted: () =>
      new Failure('deadline', 'The time limit of this request has expired.', { zh: '本次请求已超时。' }),
    ms: timeoutMs,
    late: () => new Failure('unavailable', `No node responded within ${timeoutMs} ms.`),
  })

/** `ask`, or undefined while no node answers: the answer then comes from the store alone. */
const whenReachable = async <T>(ask: Promise<T>): Promise<T | undefined> => {
  try {
    return await ask
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'unavailable' || error.kind === 'bad_block'))
      return undefined
    throw error
  }
}
