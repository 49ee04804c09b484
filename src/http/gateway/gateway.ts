import type { ForwardedResponse, Node } from '#node/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import { FRESH_MS, isKeepable } from './keeping.ts'
import { createNodeAnswerCache } from './node-answer-cache.ts'
import { type SharedAnswer, shareAnswer, type TakenResponse } from './shared-answer.ts'

/**
 * Sources of an answer: the best node, another node because the best one was slow or failing, a call in
 * progress that another request began, or the cache.
 */
export const SOURCES = ['node', 'other_node', 'joined', 'kept'] as const

/** Access to the nodes for callers of `/rpc/`. */
export type Gateway = {
  /** A cached answer; undefined: a node must be asked. */
  kept(path: string): TakenResponse | undefined
  /**
   * The answer of a node, or one that was cached meanwhile. Equal requests within `FRESH_MS` of the first
   * share its call. Each request waits no longer than its own signal, and the call is aborted when none waits
   * any more. A failure is thrown to all of them and never cached.
   */
  ask(path: string, signal: AbortSignal): Promise<TakenResponse>
}

export type GatewayOptions = {
  readonly clock: Pick<Clock, 'elapsed'>
  /** Maximum bytes of all cached answers. */
  readonly maxBytes: number
  /** Called with each answer. */
  readonly onAnswer: (source: (typeof SOURCES)[number]) => void
  /** Called with the number of cached bytes. */
  readonly onKept: (bytes: number) => void
}

/** A call to a node, in progress or just answered. */
type Call = {
  readonly since: number
  readonly answer: Promise<{ readonly shared: SharedAnswer; readonly passed: ForwardedResponse }>
  /** The number of waiting requests. */
  readers: number
  /** Called when no request waits any more. */
  readonly leave: () => void
}

export function createGateway(node: Node, { clock: { elapsed }, maxBytes, onAnswer, onKept }: GatewayOptions): Gateway {
  const kept = createNodeAnswerCache(maxBytes, { elapsed, lib: () => node.lastInfo()?.libBlock })
  const calls = new Map<string, Call>()
  const takeKept = (path: string): TakenResponse | undefined => {
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

/** Calls a node for all requests that arrive while the call is in progress. */
function beginCall(
  node: Node,
  path: string,
  {
    calls,
    kept,
    since,
    onKept,
  }: Pick<GatewayOptions, 'onKept'> & {
    readonly calls: Map<string, Call>
    readonly kept: ReturnType<typeof createNodeAnswerCache>
    readonly since: number
  },
): Call {
  const ends = new AbortController()
  const forget = (): void => {
    if (calls.get(path) === call) calls.delete(path)
  }
  let own: TakenResponse | undefined
  const asked = async () => {
    const passed = await node.get(path, { signal: ends.signal })
    const shared = shareAnswer(passed)
    // The bytes count until all waiting requests have taken the answer.
    own = shared.take()
    if (isKeepable(passed)) kept.keep(path, shared, since)
    onKept(kept.bytes())
    if (ends.signal.aborted) own.release()
    return { shared, passed }
  }
  const answer = asked().finally(forget)
  // Each waiting request gets the failure, and there may be none left.
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
