import type { Node, PassedOn } from '#node/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import { FRESH_MS, isKeepable } from './keeping.ts'
import { keptAnswers } from './kept-answers.ts'
import { type SharedAnswer, shareAnswer, type Taken } from './shared-answer.ts'

/**
 * Where an answer comes from: the best node, another one because the best was slow or failing, a call that another
 * request had begun, or memory.
 */
export const SOURCES = ['node', 'other_node', 'joined', 'kept'] as const

/** The nodes as callers of `/rpc/` ask them. */
export type Gateway = {
  /** An answer that is kept; undefined: a node has to be asked. */
  kept(path: string): Taken | undefined
  /**
   * The answer of a node, or one that was kept meanwhile. Equal requests that come within `FRESH_MS` of the first share its
   * call; each of them waits no longer than its own signal, and the call ends when none waits any more. A failure is thrown
   * to all and never kept.
   */
  ask(path: string, signal: AbortSignal): Promise<Taken>
}

export type GatewayOptions = {
  readonly clock: Pick<Clock, 'elapsed'>
  /** Of all answers that are kept. */
  readonly maxBytes: number
  /** Called with each answer. */
  readonly onAnswer: (source: (typeof SOURCES)[number]) => void
  /** Called with the number of bytes that are kept. */
  readonly onKept: (bytes: number) => void
}

/** A question to a node that is under way, or was just answered. */
type Call = {
  readonly since: number
  readonly answer: Promise<{ readonly shared: SharedAnswer; readonly passed: PassedOn }>
  /** Requests that wait for it. */
  readers: number
  /** Nobody waits for it any more. */
  readonly leave: () => void
}

export const createGateway = (
  node: Node,
  { clock: { elapsed }, maxBytes, onAnswer, onKept }: GatewayOptions,
): Gateway => {
  const kept = keptAnswers(maxBytes, { elapsed, lib: () => node.heard()?.libBlock })
  const calls = new Map<string, Call>()
  const takeKept = (path: string): Taken | undefined => {
    const answer = kept.take(path)
    if (answer !== undefined) onAnswer('kept')
    return answer
  }
  return {
    kept: takeKept,
    ask: async (path, signal) => {
      signal.throwIfAborted()
      const answer = takeKept(path)
      if (answer !== undefined) return answer
      const known = calls.get(path)
      const isJoined = known !== undefined && elapsed() - known.since < FRESH_MS
      const call = isJoined ? known : beginCall(node, path, { calls, kept, since: elapsed(), onKept })
      call.readers += 1
      try {
        const { shared, passed } = await within(call.answer, { signal })
        onAnswer(isJoined ? 'joined' : passed.isFirst ? 'node' : 'other_node')
        return shared.take()
      } finally {
        call.readers -= 1
        if (call.readers === 0) call.leave()
      }
    },
  }
}

/** Asks a node for all who come while the call is under way. */
const beginCall = (
  node: Node,
  path: string,
  {
    calls,
    kept,
    since,
    onKept,
  }: Pick<GatewayOptions, 'onKept'> & {
    readonly calls: Map<string, Call>
    readonly kept: ReturnType<typeof keptAnswers>
    readonly since: number
  },
): Call => {
  const ends = new AbortController()
  const forget = (): void => {
    if (calls.get(path) === call) calls.delete(path)
  }
  let own: Taken | undefined
  const asked = async () => {
    const passed = await node.get(path, { signal: ends.signal })
    const shared = shareAnswer(passed)
    // Its bytes count until those who wait have taken it.
    own = shared.take()
    if (isKeepable(passed)) kept.keep(path, shared, since)
    onKept(kept.bytes())
    if (ends.signal.aborted) own.release()
    return { shared, passed }
  }
  const answer = asked().finally(forget)
  // Each request that waits gets the failure; perhaps none waits any more.
  answer.catch(() => undefined)
  const leave = (): void => {
    forget()
    ends.abort('left')
    own?.release()
  }
  const call: Call = { since, answer, readers: 0, leave }
  calls.set(path, call)
  return call
}
