import { measureJson, tryParseJson } from '#chain/json.ts'
import { decodeChainText } from '#chain/receipt-hash.ts'
import { escapeForeignText, Failure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import { joinSignals } from '#time/deadline.ts'
import {
  abortedByCaller,
  type Budget,
  type Endpoint,
  type HttpContext,
  type HttpLimits,
  type HttpOutcome,
  type HttpRequest,
  isCrowded,
  isNodeFault,
  isTlsFault,
  isUnanswered,
  type MemoryReservation,
  sendOnce,
} from './http.ts'
import { explainLag, findUnfit, type Member, type NodePool, unfitText } from './pool.ts'
import type { NodeResponse } from './port.ts'

/** The largest answer that a sound node gives to a call. */
type AnswerSize = {
  readonly bytes: number
  /** Texts, opening brackets and commas (`measureJson`). */
  readonly parts: number
}

const KIB = 1024
const MIB = 1024 * KIB

/** Chain info: some thousand bytes, most of them names of producers. */
export const CHAIN_INFO_SIZE: AnswerSize = { bytes: 64 * KIB, parts: 10_000 }

/** A block without its transactions; its `info` lists those of the first years (`INFO` in `bounds.ts`), in two members. */
export const BARE_BLOCK_SIZE: AnswerSize = { bytes: MIB, parts: 100_000 }

/** A contract with its code, of which only genesis has more than 64 KiB. */
export const CONTRACT_SIZE: AnswerSize = { bytes: 8 * MIB, parts: 100_000 }

/** Several blocks. Ranges aim at 1 MiB, and one whose answer is larger is halved. */
export const RANGE_SIZE: AnswerSize = { bytes: 6 * MIB, parts: 600_000 }

/** A whole block, or a page of storage: a node answers with at most 4 MiB, six letters a byte (gRPC, `rpc/server.go`). */
export const BLOCK_SIZE: AnswerSize = { bytes: 32 * MIB, parts: 2_000_000 }

export type CallContext = {
  readonly pool: NodePool
  readonly clock: Clock
  readonly limits: HttpLimits
  /** Maximum number of tries per question, over all nodes. */
  readonly tries: number
  /** Aborts all requests. */
  readonly signal: AbortSignal
  /** The node to ask first if it answers and does not rest; absent: the best one. */
  readonly first?: Member
  /** Called when a request ends. */
  readonly onCall?: HttpContext['onCall']
}

export type NodeRequest<T> = HttpRequest & {
  /** The question's name in messages. */
  readonly what: string
  /** The largest answer of a sound node; a larger one is neither read to its end nor parsed. */
  readonly size: AnswerSize
  /** Parses the answer; a Failure thrown here counts as a failed try. */
  readonly decode: (text: string) => T
  /** Bytes that are not UTF-8 become lone surrogates (`encodeChainText`); otherwise the answer is refused. */
  readonly bytes?: true
  /** `block not found` is a valid answer and is not retried. */
  readonly mayBeAbsent?: true
  /** The caller splits a question whose answer is too large; the same question is not asked again. */
  readonly splits?: boolean
}

/** gRPC status UNIMPLEMENTED: the node does not have the call. */
export const NO_SUCH_CALL = 12

/** A node's error code and message for a refused request. */
type Refusal = { readonly code: number; readonly message: string }

/** A node's own refusal (HTTP 400 with code and message); a retry would get the same. */
export class RefusedCall extends Failure {
  readonly code: number
  readonly reason: string
  constructor(what: string, node: string, { code, message }: Refusal) {
    super('unavailable', `${node} refuses ${what}: ${escapeForeignText(message.slice(0, 200))} (code ${code}).`, {
      retryable: false,
    })
    this.name = 'RefusedCall'
    this.code = code
    this.reason = message
  }
}

/** No node is on the stored branch, so their answers do not apply to the stored blocks. */
export class NoNodeOnBranch extends Failure {}

/** An answer over the size limit. A smaller range may succeed. */
export class ResponseTooLarge extends Failure {
  constructor(what: string, node: string, detail: string) {
    super('bad_block', `${node} responds to ${what} with too much: ${detail}.`, {
      help: 'Set another node with --node; the responses of a sound node are far smaller.',
    })
    this.name = 'ResponseTooLarge'
  }
}

/** The result of asking one node once. */
type CallResult<T> =
  | { readonly tag: 'done'; readonly value: T }
  | {
      /** `again`: a retry can help. `elsewhere`: not at this node, but another one may answer. */
      readonly tag: 'again' | 'elsewhere'
      readonly detail: string
      /** Absent: the node gave no answer of its own. */
      readonly failure?: Failure
      readonly pauseMs?: number | undefined
    }

/** Time without an answer after which the next node is asked in parallel, in milliseconds. */
const HEDGE_MS = 700

type Asking = Pick<HttpContext, 'limits' | 'budget'> & {
  /** Nodes that are not asked any more; the reader of the outcomes adds some. */
  readonly without: Set<Member>
  /**
   * Someone waits for this answer: each usable node is asked once, and the next one also while others are slow.
   * Otherwise any node of the chain is asked, and again after its rest.
   */
  readonly isUrgent: boolean
}

type NodeOutcome = { readonly member: Member; readonly isFirst: boolean; readonly outcome: HttpOutcome }

/**
 * The outcomes of asking the nodes, best first, until the loop over them ends: that cancels the requests which are
 * still running. Throws 'deadline' when the signal of `context` aborts.
 */
async function* askNodes(context: CallContext, request: HttpRequest, asking: Asking): AsyncGenerator<NodeOutcome> {
  const { clock, signal, onCall } = context
  const { limits, budget } = asking
  const ends = joinSignals(signal)
  const running: RunningRequests = new Map()
  const send = async (member: Member, isFirst: boolean): Promise<NodeOutcome> => {
    const means = { limits, clock, onCall, signal: ends.signal, isRetry: !isFirst, ...(budget && { budget }) }
    return { member, isFirst, outcome: await sendOnce(member.endpoint, request, means) }
  }
  try {
    for (let tries = 0; ; tries += 1) {
      const member = tries < context.tries ? await takeNode(context, asking) : undefined
      if (signal.aborted) throw abortedByCaller(signal)
      if (member !== undefined) running.set(member, send(member, tries === 0))
      if (running.size === 0) return
      const next = await awaitNextOutcome({ ...context, signal: ends.signal }, asking, running)
      if (next === undefined) continue
      running.delete(next.member)
      yield next
    }
  } finally {
    ends.abort('answered')
    ends.release()
    for (const sent of running.values())
      sent.then(
        ({ outcome }) => outcome.tag === 'answer' && outcome.reservation.release(),
        () => undefined,
      )
  }
}

type RunningRequests = Map<Member, Promise<NodeOutcome>>

const chooseNode = ({ pool, first }: CallContext, { without, isUrgent }: Asking): Member | undefined =>
  pool.pick(without, { first, isUrgent })

/** The next node to ask, once it has rested. */
async function takeNode(context: CallContext, asking: Asking): Promise<Member | undefined> {
  const { clock, signal } = context
  const member = chooseNode(context, asking)
  if (member === undefined) return undefined
  if (asking.isUrgent) asking.without.add(member)
  else await clock.sleep(Math.max(0, member.backoffUntil - clock.elapsed()), signal)
  return member
}

/** The next outcome. undefined: the nodes that were asked are slow, and another one can be asked. */
async function awaitNextOutcome(
  context: CallContext,
  asking: Asking,
  running: RunningRequests,
): Promise<NodeOutcome | undefined> {
  const { pool, clock, signal } = context
  const isHedged = asking.isUrgent && !isCrowded() && chooseNode(context, asking) !== undefined
  const late = isHedged ? [clock.sleep(HEDGE_MS, signal).then(() => undefined)] : []
  const next = await Promise.race([...running.values(), ...late])
  // A slow node may still answer, but the next requests prefer other nodes. A caller who leaves says nothing of it.
  if (next === undefined && !signal.aborted) for (const member of running.keys()) pool.shun(member)
  return next
}

/**
 * The parsed answer of the best node that gives one: the next node is asked at once, the same one after a rest. Throws
 * 'unavailable' when no node answers, the decoder's Failure when all answers are wrong, `RefusedCall`,
 * `ResponseTooLarge`, 'deadline'.
 */
export async function callNode<T>(context: CallContext, question: NodeRequest<T>): Promise<T> {
  const { pool } = context
  const without = new Set<Member>()
  const details = new Map<string, string>()
  let last: Failure | undefined
  const asking = { limits: limitAnswer(context, question), without, isUrgent: false }
  for await (const { member, outcome } of askNodes(context, question, asking)) {
    const result = parseOutcome(pool, question, { member, outcome })
    if (result.tag === 'done') return result.value
    last = result.failure
    details.set(member.endpoint.name, result.detail)
    if (result.tag === 'elsewhere') without.add(member)
    else pool.noteFailure(member, result.pauseMs)
  }
  throw last ?? findChainFailure(pool) ?? noNodeAnswered(pool, question.what, details)
}

type ForwardResult = {
  readonly answer: NodeResponse
  readonly member: Member
  /** Whether this node was the first in the order of nodes. */
  readonly isFirst: boolean
  readonly hold: MemoryReservation
}

/**
 * The answer of the best node that gives one, with any content, for a caller who waits. An error of the node itself
 * (5xx, 429) is returned only when every node has one. `limits`: of each node's answer; `budget`: memory for all answers
 * that are passed on. Throws 'unavailable' when no node answers, at once when none is usable; 'deadline'.
 */
export async function forward(
  context: CallContext,
  request: HttpRequest,
  options: { readonly limits: HttpLimits; readonly budget: Budget },
): Promise<ForwardResult> {
  const { pool } = context
  const { path } = request
  if (!path.startsWith('/')) throw new Failure('defect', `Path "${path.slice(0, 100)}" does not begin with a slash.`)
  const what = path.replace(/\?.*$/s, '')
  const details = new Map<string, string>()
  let best: ForwardResult | undefined
  try {
    const asking = { ...options, without: new Set<Member>(), isUrgent: true }
    for await (const { member, isFirst, outcome } of askNodes(context, request, asking)) {
      if (outcome.tag === 'no_room')
        throw new Failure(
          'unavailable',
          `There is no memory for the response to ${what}: responses to other requests use all of it.`,
          { zh: '服务繁忙，请稍后重试。' },
        )
      if (outcome.tag === 'answer') {
        best?.hold.release()
        best = { answer: outcome.answer, hold: outcome.reservation, member, isFirst }
        if (!isNodeFault(outcome.answer.status)) return best
      } else details.set(member.endpoint.name, outcome.detail)
      if (outcome.tag !== 'too_large') pool.shun(member)
    }
  } catch (error) {
    best?.hold.release()
    throw error
  }
  if (best !== undefined) return best
  throw details.size === 0 ? noneUsable(pool, what) : noNodeAnswered(pool, what, details)
}

/** The Failure for a request that was passed on to no node. */
function noneUsable(pool: NodePool, what: string): Failure {
  const unfit = findUnfit(pool)
  if (unfit?.is === 'apart')
    return new NoNodeOnBranch(
      'unavailable',
      `${what} was sent to no node: no node is on the stored branch. ${unfitText(unfit, unfit.node)}.`,
      { zh: '全节点所在的分支与已存储的不同，因此不予查询。' },
    )
  const reasons = new Map<string, string>()
  for (const member of pool.members) {
    const { endpoint, foreign, silent, report } = member
    reasons.set(endpoint.name, foreign ?? silent ?? (report && explainLag(pool, member)) ?? 'not heard yet')
  }
  return noNodeAnswered(pool, what, reasons)
}

/** The Failure when every node serves a different chain from the stored one; a retry does not help. */
const findChainFailure = ({ members }: NodePool): Failure | undefined =>
  members.every(({ foreign }) => foreign !== undefined)
    ? new Failure(
        'conflict',
        `The node serves another chain than the store: ${members.map(({ endpoint, foreign }) => `${endpoint.name} has ${foreign}`).join('; ')}.`,
        { help: 'Load this chain into another store, or set --node to a node of the stored chain.' },
      )
    : undefined

/** The Failure for a question that no node answered; `details`: the error of each node, by name. */
export function noNodeAnswered(pool: NodePool, what: string, details: ReadonlyMap<string, string>): Failure {
  const reported = pool.members.flatMap(({ endpoint: { name } }) => {
    const detail = details.get(name)
    return detail === undefined ? [] : [`${name}: ${detail.replace(/\.$/, '')}`]
  })
  const heard = [...details.values()]
  const none = heard.every(isUnanswered) ? 'No node responded to' : 'No node gave a usable response to'
  // A certificate may be renewed while a node is in use; before its first answer the settings are wrong.
  const isWrong = heard.length > 0 && heard.every(isTlsFault) && pool.reportedAt === undefined
  return new Failure('unavailable', `${none} ${what}: ${reported.join('; ')}.`, {
    zh: '没有可用的全节点。',
    ...(isWrong && {
      retryable: false,
      help: 'Set NODE_EXTRA_CA_CERTS to the PEM file of the authority that signed the certificate, and use a host name that the certificate has. A node without TLS needs http:// in --node.',
    }),
  })
}

/** Asks one node once and parses its answer. */
export async function callOnce<T>(
  context: CallContext,
  member: Member,
  question: NodeRequest<T>,
): Promise<CallResult<T>> {
  const means = { ...context, limits: limitAnswer(context, question) }
  return parseOutcome(context.pool, question, { member, outcome: await sendOnce(member.endpoint, question, means) })
}

const limitAnswer = ({ limits }: CallContext, { size }: NodeRequest<unknown>): HttpLimits => ({
  ...limits,
  maxBytes: Math.min(limits.maxBytes, size.bytes),
})

function parseOutcome<T>(
  pool: NodePool,
  question: NodeRequest<T>,
  { member, outcome }: Pick<NodeOutcome, 'member' | 'outcome'>,
): CallResult<T> {
  const { name } = member.endpoint
  const { what, size, splits } = question
  const tooLarge = (reason: string): CallResult<never> => {
    const failure = new ResponseTooLarge(what, name, reason)
    return { tag: splits === true ? 'elsewhere' : 'again', detail: failure.message, failure }
  }
  if (outcome.tag === 'too_large') return tooLarge(outcome.detail)
  if (outcome.tag !== 'answer') return { tag: 'again', detail: outcome.detail }
  const { answer, retryAfterMs } = outcome
  if (answer.status !== 200) return classifyRefusal(name, question, { answer, retryAfterMs })
  const text = question.bytes === true ? decodeChainText(answer.body) : utf8(answer.body)
  // Each part takes at least one letter, so that most answers need not be measured.
  if (text !== undefined && text.length > size.parts && measureJson(text).parts > size.parts)
    return tooLarge(`the response has over ${size.parts} texts, brackets and commas`)
  try {
    if (text === undefined) throw new Failure('bad_block', `The response to ${question.what} is not UTF-8.`)
    const value = question.decode(text)
    pool.noteSuccess(member)
    return { tag: 'done', value }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { tag: 'again', detail: error.message, failure: withPeer(member.endpoint, error) }
  }
}

/** A wrong answer's error with the name of the node; an archive's error gets the name of the file instead. */
function withPeer({ name, answers }: Endpoint, error: Failure): Failure {
  if (answers !== undefined || error.message.includes(name)) return error
  const { kind, message, retryable, details, help } = error
  return new Failure(kind, `${name}: ${message}`, { cause: error, retryable, details, help })
}

/** Classifies an answer whose status is not 200; `name`: the node's. */
function classifyRefusal(
  name: string,
  question: NodeRequest<unknown>,
  { answer, retryAfterMs }: { readonly answer: NodeResponse; readonly retryAfterMs: number | undefined },
): CallResult<never> {
  const detail = `status ${answer.status}`
  if (isNodeFault(answer.status)) return { tag: 'again', detail, pauseMs: retryAfterMs }
  const refusal = parseRefusal(answer)
  if (refusal === undefined) {
    // Something between us and the node has answered, perhaps only for a moment.
    const message = `${name} responds to ${question.what} with ${detail}, which no node does.`
    return { tag: 'again', detail: message, failure: new Failure('unavailable', message) }
  }
  const failure = new RefusedCall(question.what, name, refusal)
  // A node that is behind says so of a block that it does not have yet, so a retry is worthwhile.
  return refusal.message === 'block not found' && question.mayBeAbsent !== true
    ? { tag: 'again', detail: refusal.message, failure }
    : { tag: 'elsewhere', detail: failure.message, failure }
}

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** A node's own refusal: status 400 with code and message; undefined for any other answer. */
export function parseRefusal(answer: NodeResponse): Refusal | undefined {
  if (answer.status !== 400) return undefined
  const body = tryParseJson(Buffer.from(answer.body).toString())
  const { code, message } = (body ?? {}) as Partial<Record<'code' | 'message', unknown>>
  return typeof code === 'number' && typeof message === 'string' ? { code, message } : undefined
}
