import { tryParseJson } from '#chain/json.ts'
import { measureJson } from '#chain/json-text.ts'
import { textOfBytes } from '#chain/receipt-hash.ts'
import { escaped } from '#failure/escaped.ts'
import { Failure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import type { AnswerSize } from './answer-size.ts'
import type { Endpoint } from './endpoint.ts'
import {
  abortedByCaller,
  type HttpContext,
  type HttpLimits,
  type HttpRequest,
  isNodeFault,
  isTlsFault,
  isUnanswered,
  sendOnce,
} from './http.ts'
import type { Member, NodePool } from './pool.ts'
import type { NodeResponse } from './port.ts'

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
  /** Bytes that are not UTF-8 become lone surrogates (`bytesOfText`); otherwise the answer is refused. */
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
    super('unavailable', `${node} refuses ${what}: ${escaped(message.slice(0, 200))} (code ${code}).`, {
      retryable: false,
    })
    this.name = 'RefusedCall'
    this.code = code
    this.reason = message
  }
}

/** An answer over the size limit. A smaller range may succeed. */
export class ResponseTooLarge extends Failure {
  constructor(what: string, node: string, detail: string) {
    super('bad_block', `${node} responds to ${what} with too much: ${detail}.`, {
      help: 'Set another node with --node; the responses of a sound node are far smaller.',
    })
    this.name = 'ResponseTooLarge'
  }
}

/** The result of one try. */
type CallResult<T> =
  | { readonly tag: 'done'; readonly value: T }
  /** A retry can help. `bad`: the node answered, but the answer cannot be true. */
  | { readonly tag: 'again'; readonly detail: string; readonly bad?: Failure; readonly pauseMs?: number }
  /** A retry at this node will not help, but another node may answer. */
  | { readonly tag: 'elsewhere'; readonly failure: Failure }

/** A node that is behind gives this message for a block it does not have yet, so a retry is worthwhile. */
const NOT_FOUND_YET = 'block not found'

/**
 * Asks the best node and retries where that can help: at the next node at once, at the same node after a
 * rest. Throws 'unavailable' when no node answers, the decoder's Failure when all answers are wrong,
 * `RefusedCall`, `ResponseTooLarge`, 'deadline'.
 */
export async function callNode<T>(context: CallContext, question: NodeRequest<T>): Promise<T> {
  const { pool, clock, signal } = context
  const without = new Set<Member>()
  const details = new Map<string, string>()
  let last: Failure | undefined
  for (let tries = 0; tries < context.tries; tries += 1) {
    const member = pool.pick(without, context.first)
    if (member === undefined) break
    await clock.sleep(Math.max(0, member.backoffUntil - clock.elapsed()), signal)
    if (signal.aborted) throw abortedByCaller(signal)
    const result = await callOnce({ ...context, isRetry: tries > 0 }, member, question)
    if (result.tag === 'done') return result.value
    if (result.tag === 'elsewhere') {
      without.add(member)
      last = result.failure
      details.set(member.endpoint.name, result.failure.message)
      continue
    }
    pool.noteFailure(member, result.pauseMs)
    last = result.bad
    details.set(member.endpoint.name, result.detail)
  }
  throw last ?? otherChains(pool) ?? noNodeAnswered(pool, question.what, details)
}

/** The Failure when every node serves a different chain from the stored one; a retry does not help. */
const otherChains = ({ members }: NodePool): Failure | undefined =>
  members.every(({ foreign }) => foreign !== undefined)
    ? new Failure(
        'conflict',
        `The node serves another chain than the store: ${members.map(({ endpoint, foreign }) => `${endpoint.name} has ${foreign}`).join('; ')}.`,
        { help: 'Load this chain into another store, or set --node to a node of the stored chain.' },
      )
    : undefined

const TLS_HELP =
  'Set NODE_EXTRA_CA_CERTS to the PEM file of the authority that signed the certificate, and use a host name that the certificate has. A node without TLS needs http:// in --node.'

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
    ...(isWrong ? { retryable: false, help: TLS_HELP } : {}),
  })
}

/** Asks one node once and classifies the answer. */
export async function callOnce<T>(
  { pool, limits, clock, signal, onCall, isRetry = false }: CallContext & Pick<HttpContext, 'isRetry'>,
  member: Member,
  question: NodeRequest<T>,
): Promise<CallResult<T>> {
  const { name } = member.endpoint
  const { what, size, splits } = question
  const tooLarge = (reason: string): CallResult<never> => {
    const failure = new ResponseTooLarge(what, name, reason)
    return splits === true ? { tag: 'elsewhere', failure } : { tag: 'again', detail: failure.message, bad: failure }
  }
  const most = { ...limits, maxBytes: Math.min(limits.maxBytes, size.bytes) }
  const outcome = await sendOnce(member.endpoint, question, { limits: most, clock, signal, onCall, isRetry })
  if (outcome.tag === 'too_large') return tooLarge(outcome.detail)
  if (outcome.tag !== 'answer') return { tag: 'again', detail: outcome.detail }
  const { answer, retryAfterMs } = outcome
  if (answer.status !== 200) return refused(name, question, { answer, retryAfterMs })
  const text = question.bytes === true ? textOfBytes(answer.body) : utf8(answer.body)
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
    return { tag: 'again', detail: error.message, bad: withPeer(member.endpoint, error) }
  }
}

/** A wrong answer's error with the name of the node; an archive's error gets the name of the file instead. */
function withPeer({ name, answers }: Endpoint, error: Failure): Failure {
  if (answers !== undefined || error.message.includes(name)) return error
  const { kind, message, retryable, details, help } = error
  return new Failure(kind, `${name}: ${message}`, {
    cause: error,
    retryable,
    details,
    ...(help === undefined ? {} : { help }),
  })
}

/** Classifies an answer whose status is not 200; `name`: the node's. */
function refused(
  name: string,
  question: NodeRequest<unknown>,
  { answer, retryAfterMs }: { readonly answer: NodeResponse; readonly retryAfterMs: number | undefined },
): CallResult<never> {
  const detail = `status ${answer.status}`
  if (isNodeFault(answer.status))
    return { tag: 'again', detail, ...(retryAfterMs === undefined ? {} : { pauseMs: retryAfterMs }) }
  const refusal = parseRefusal(answer)
  if (refusal === undefined) {
    // Something between us and the node has answered, perhaps only for a moment.
    const message = `${name} responds to ${question.what} with ${detail}, which no node does.`
    return { tag: 'again', detail: message, bad: new Failure('unavailable', message) }
  }
  const failure = new RefusedCall(question.what, name, refusal)
  return refusal.message === NOT_FOUND_YET && question.mayBeAbsent !== true
    ? { tag: 'again', detail: refusal.message, bad: failure }
    : { tag: 'elsewhere', failure }
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
