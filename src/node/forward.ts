import { Failure } from '#failure/failure.ts'
import { joinSignals } from '#time/signals.ts'
import type { Budget, MemoryReservation } from './budget.ts'
import { type CallContext, noNodeAnswered } from './call.ts'
import {
  abortedByCaller,
  type HttpContext,
  type HttpLimits,
  type HttpOutcome,
  type HttpRequest,
  isNodeFault,
  sendOnce,
} from './http.ts'
import { unfitText } from './judge.ts'
import { explainLag, type Member, type NodePool, whyUnfit } from './pool.ts'
import type { NodeResponse } from './port.ts'

/** No node is on the stored branch, so their answers do not apply to the stored blocks. */
export class NoNodeOnBranch extends Failure {}

/** Time without an answer after which the next node is asked in parallel, in milliseconds. */
const HEDGE_MS = 700

export type ForwardOptions = {
  readonly request: HttpRequest
  /** Limits for each node's answer. */
  readonly limits: HttpLimits
  /** Memory for all answers that are passed on. */
  readonly budget: Budget
}

export type ForwardResult = {
  readonly answer: NodeResponse
  readonly member: Member
  /** Whether this node was the first in the order of nodes. */
  readonly isFirst: boolean
  readonly hold: MemoryReservation
}

/** The nodes that may be asked now, best first. */
export const usableMembers = (pool: NodePool): readonly Member[] =>
  pool.ready().filter(member => explainLag(pool, member) === undefined)

/**
 * The answer of the best node that gives one, with any content. An error of the node itself (5xx, 429) is returned only
 * when every node has one. The next node is asked at once when one fails, and in parallel when one is slow. Throws
 * 'unavailable' when no node answers, at once when none is usable; 'deadline' when the signal of `context` aborts.
 */
export async function forward(
  context: CallContext,
  { request, limits, budget }: ForwardOptions,
): Promise<ForwardResult> {
  const { pool, clock, signal, onCall } = context
  const { path } = request
  if (!path.startsWith('/')) throw new Failure('defect', `Path "${path.slice(0, 100)}" does not begin with a slash.`)
  if (signal.aborted) throw abortedByCaller(signal)
  const what = path.replace(/\?.*$/s, '')
  const ready = usableMembers(pool)
  if (ready.length === 0) throw noneFit(context, what)
  const details = new Map<string, string>()
  let excuse: ForwardResult | undefined
  const means = { limits, clock, budget, onCall }
  try {
    for await (const { member, outcome } of streamOutcomes(context, ready, { request, means })) {
      if (outcome.tag === 'no_room') throw noRoom(what)
      if (outcome.tag === 'answer') {
        excuse?.hold.release()
        excuse = { answer: outcome.answer, hold: outcome.reservation, member, isFirst: member === ready[0] }
        if (!isNodeFault(outcome.answer.status)) return excuse
      } else details.set(member.endpoint.name, outcome.detail)
      if (outcome.tag !== 'too_large') pool.shun(member)
    }
  } catch (error) {
    excuse?.hold.release()
    throw error
  }
  if (excuse !== undefined) return excuse
  throw noNodeAnswered(pool, what, details)
}

type MemberOutcome = { readonly member: Member; readonly outcome: HttpOutcome }

/**
 * The outcomes of asking the nodes, in order of arrival. The next node is asked when one has answered, and in
 * parallel with slow ones. Leaving the loop cancels the requests that are still running.
 */
async function* streamOutcomes(
  { pool, clock, signal }: CallContext,
  ready: readonly Member[],
  { request, means }: { readonly request: HttpRequest; readonly means: Omit<HttpContext, 'signal'> },
): AsyncGenerator<MemberOutcome> {
  const waiting = [...ready]
  const ends = joinSignals(signal)
  const running = new Map<Member, Promise<MemberOutcome>>()
  const askNext = (): void => {
    const member = waiting.shift()
    if (member === undefined) return
    const asked = sendOnce(member.endpoint, request, {
      ...means,
      signal: ends.signal,
      isRetry: member !== ready[0],
    })
    running.set(
      member,
      asked.then(outcome => ({ member, outcome })),
    )
  }
  /** undefined: all running requests are slow, and another node is left to ask. */
  const nextDone = (): Promise<MemberOutcome | undefined> =>
    Promise.race([
      ...running.values(),
      ...(waiting.length === 0 ? [] : [clock.sleep(HEDGE_MS, ends.signal).then(() => undefined)]),
    ])
  try {
    for (askNext(); running.size > 0; askNext()) {
      const turn = await nextDone()
      if (turn === undefined) {
        // A slow node may still answer, but the next requests prefer other nodes.
        for (const member of running.keys()) pool.shun(member)
        continue
      }
      running.delete(turn.member)
      yield turn
    }
  } finally {
    ends.abort('answered')
    ends.release()
    for (const turn of running.values()) turn.then(letGo, () => undefined)
  }
}

function letGo({ outcome }: MemberOutcome): void {
  if (outcome.tag === 'answer') outcome.reservation.release()
}

const noRoom = (what: string): Failure =>
  new Failure(
    'unavailable',
    `There is no memory for the response to ${what}: responses to other requests use all of it.`,
    { zh: '服务繁忙，请稍后重试。' },
  )

function noneFit({ pool }: CallContext, what: string): Failure {
  const unfit = whyUnfit(pool)
  return unfit?.is === 'apart'
    ? new NoNodeOnBranch(
        'unavailable',
        `${what} was sent to no node: no node is on the stored branch. ${unfitText(unfit, unfit.node)}.`,
        { zh: '全节点所在的分支与已存储的不同，因此不予查询。' },
      )
    : noNodeAnswered(pool, what, whyNotAsked(pool))
}

const whyNotAsked = (pool: NodePool): ReadonlyMap<string, string> =>
  new Map(
    pool.members.map(member => [
      member.endpoint.name,
      member.foreign ?? member.silent ?? (member.report && explainLag(pool, member)) ?? 'not heard yet',
    ]),
  )
