import { Failure } from '#failure/failure.ts'
import type { TryResult } from '#time/retry.ts'
import { type BulkItem, cut, fateOf, type ItemAnswer, ONE_REQUEST_BYTES } from './bulk-item.ts'
import { BLOCKED, errorOf, isTransient, reasonOf, TOO_LARGE, toFailure } from './failures.ts'
import { fullestDisk } from './fullest-disk.ts'
import type { ElasticResponse } from './request.ts'
import { parseAnswer, requireValid } from './request-json.ts'
import type { Sender } from './sender.ts'
import { tryAgain } from './sender.ts'

const IN_FLIGHT = 3

/** The members of an answer that are read. */
const ANSWERED = 'items.*.status,items.*.forced_refresh,items.*.error.type,items.*.error.reason,items.*.error.caused_by'

/** The result of a bulk. */
export type BulkResult = {
  /** The items that conflicted: the document already exists, or changed since it was read. */
  readonly existing: readonly BulkItem[]
  /** Whether all written documents are searchable in every copy. */
  readonly searchable: boolean
}

/**
 * Sends every item, in any order. Retries item by item after overload or a cut connection, and waits while the index is
 * blocked. Throws 'defect' when an item is refused, and 'unavailable' when the time is over. No item is skipped.
 *
 * `searchable`: a refresh is wanted. Items that fit one request are made searchable by that request, unless something
 * goes wrong. Otherwise `BulkResult.searchable` is false, and the caller refreshes the indices.
 */
export const sendBulk = async (
  sender: Sender,
  items: Iterable<BulkItem>,
  { searchable: wanted = false }: { readonly searchable?: boolean } = {},
): Promise<BulkResult> => {
  const runs = cut(items, ONE_REQUEST_BYTES)
  const ahead = [runs.next(), runs.next()]
  const refreshes = wanted && ahead[1]?.done === true
  const existing: BulkItem[] = []
  let searchable = refreshes
  const next = () => ahead.shift() ?? runs.next()
  const worker = async (): Promise<void> => {
    for (let run = next(); !run.done; run = next()) {
      const sent = await sendRun(sender, run.value, refreshes)
      existing.push(...sent.existing)
      searchable &&= sent.searchable
    }
  }
  // All workers end before a failure is thrown: no write of this call happens after it.
  const ended = await Promise.allSettled(Array.from({ length: IN_FLIGHT }, worker))
  for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason
  return { existing, searchable }
}

/** What became of the items of one request. */
type Tried = BulkResult & {
  readonly again: readonly BulkItem[]
  readonly blocked: boolean
  readonly reason: string
  /** A server refused the request for its size: it is sent again in halves. */
  readonly isTooLarge: boolean
}

const sendRun = async (sender: Sender, run: readonly BulkItem[], refreshes: boolean): Promise<BulkResult> => {
  const existing: BulkItem[] = []
  let pending = run
  let isFirst = true
  let blocked = false
  let wasBlocked = false
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the states of one run of items, which are told apart here alone.
  const attempt = async (): Promise<TryResult<BulkResult>> => {
    // A replaced loader may find its partition read-only by now.
    if (!isFirst) sender.requireLease?.()
    // The refresh covers all items only if the first attempt writes them all.
    const tried = await tryRun(sender, pending, refreshes && isFirst)
    if (tried.isTooLarge) return { done: await sendHalves(sender, pending, existing) }
    const searchable = isFirst && tried.searchable
    isFirst = false
    existing.push(...tried.existing)
    wasBlocked = blocked
    blocked = tried.blocked
    if (wasBlocked && !blocked) sender.onEvent({ type: 'unblocked' })
    const progress = tried.again.length < pending.length
    pending = tried.again
    if (pending.length === 0) return { done: { existing, searchable } }
    // A full disk is the usual cause of a block.
    const disk = blocked && !wasBlocked ? await fullestDisk(sender.connection) : undefined
    const retryReason = disk === undefined ? tried.reason : `${tried.reason} ${disk}`
    // Progress restarts the time limit, and so does a block, which an operator must clear.
    return { retryReason, anew: progress ? 'all' : blocked ? 'timeout' : undefined }
  }
  return tryAgain(sender, attempt, (reason, waitMs) => {
    if (!blocked) sender.onEvent({ type: 'retry', reason, waitMs })
    else if (!wasBlocked) sender.onEvent({ type: 'blocked', reason })
  })
}

/** A proxy in front of Elasticsearch may accept smaller requests only. Halves are sent in order, down to single items. */
const sendHalves = async (
  sender: Sender,
  items: readonly BulkItem[],
  existing: readonly BulkItem[],
): Promise<BulkResult> => {
  const middle = Math.ceil(items.length / 2)
  const first = await sendRun(sender, items.slice(0, middle), false)
  const second = await sendRun(sender, items.slice(middle), false)
  return { existing: [...existing, ...first.existing, ...second.existing], searchable: false }
}

const tryRun = async (sender: Sender, items: readonly BulkItem[], refreshes: boolean): Promise<Tried> => {
  const nothing = { again: items, existing: [], searchable: false, blocked: false, isTooLarge: false }
  // Keeps a write from recreating a deleted index with a guessed mapping.
  const query = { require_alias: 'true', filter_path: ANSWERED, ...(refreshes ? { refresh: 'true' } : {}) }
  const lines = items.map(item => item.lines).join('')
  const { connection, writeTimeoutMs: timeoutMs } = sender
  let answers: Answers
  try {
    const answer = await connection.send({ method: 'POST', path: '/_bulk', query, lines, timeoutMs })
    const { status } = answer
    if (status === TOO_LARGE && items.length > 1) return { ...nothing, reason: `${status}`, isTooLarge: true }
    const error = status < 300 ? {} : errorOf(answer)
    const blocked = error.type === BLOCKED
    if (blocked || isTransient(status)) return { ...nothing, blocked, reason: reasonOf(error) }
    if (status >= 300) throw toFailure({ connection, what: 'write in bulk' }, { status, error })
    answers = answersOf(sender, items, answer)
  } catch (error) {
    if (!(error instanceof Failure) || !error.retryable) throw error
    return { ...nothing, reason: error.message }
  }
  return sortAnswers(sender, items, answers)
}

type Answers = readonly Readonly<Record<string, ItemAnswer>>[]

/** An unclear answer counts as no answer: the next attempt finds out which items were carried out. */
const answersOf = ({ connection }: Sender, pending: readonly BulkItem[], { text }: ElasticResponse): Answers => {
  const origin = { connection, what: `write ${pending[0]?.index} in bulk` }
  const { items } = parseAnswer<{ readonly items?: Answers }>(origin, text) ?? {}
  const isClear = (all: Answers): boolean =>
    Array.isArray(all) &&
    all.length === pending.length &&
    all.every((each, at) => Number.isInteger(each?.[pending[at]?.action ?? '']?.status))
  return requireValid(origin, items, isClear)
}

const sortAnswers = ({ connection }: Sender, items: readonly BulkItem[], answers: Answers): Tried => {
  const again: BulkItem[] = []
  const existing: BulkItem[] = []
  let [searchable, blocked, reason] = [true, false, '']
  for (const [at, item] of items.entries()) {
    const answer = answers[at]?.[item.action] as ItemAnswer
    const { status, error = {} } = answer
    searchable &&= answer.forced_refresh === true
    const fate = fateOf(item, answer)
    if (fate === 'wrong')
      throw toFailure({ connection, what: `write ${item.index} '${item.id}'` }, { status, error }, 'defect')
    if (fate === 'exists') existing.push(item)
    if (fate !== 'again' && fate !== 'blocked') continue
    again.push(item)
    blocked ||= fate === 'blocked'
    reason = `${item.index} '${item.id}': ${reasonOf(error)}`
  }
  return { again, existing, searchable, blocked, reason, isTooLarge: false }
}
