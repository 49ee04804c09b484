import { Failure } from '#failure/failure.ts'
import type { TryResult } from '#time/retry.ts'
import { type BulkItem, cut, fateOf, type ItemAnswer, ONE_REQUEST_BYTES } from './bulk-item.ts'
import { errorOf, isTransient, reasonOf, TOO_LARGE, toFailure } from './failures.ts'
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
  const { runs, isOne } = counted(cut(items, ONE_REQUEST_BYTES))
  const existing: BulkItem[] = []
  let searchable = wanted && isOne
  const worker = async (): Promise<void> => {
    for (let next = runs.next(); !next.done; next = runs.next()) {
      const sent = await sendRun(sender, next.value, wanted && isOne)
      existing.push(...sent.existing)
      searchable &&= sent.searchable
    }
  }
  // All workers end before a failure is thrown: no write of this call happens after it.
  const ended = await Promise.allSettled(Array.from({ length: IN_FLIGHT }, worker))
  for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason
  return { existing, searchable }
}

/** The same runs, and whether there is at most one. */
const counted = <T>(runs: Generator<T, void, void>) => {
  const [first, second] = [runs.next(), runs.next()]
  const all = function* (): Generator<T, void, void> {
    if (!first.done) yield first.value
    if (!second.done) yield second.value
    yield* runs
  }
  return { runs: all(), isOne: second.done === true }
}

type Tried = {
  readonly again: readonly BulkItem[]
  readonly existing: readonly BulkItem[]
  readonly searchable: boolean
  readonly blocked: boolean
  readonly reason: string
  /** A server refused the request for its size: it is sent again in halves. */
  readonly isTooLarge?: true
}

const NOTHING_DONE = { existing: [], searchable: false, blocked: false }

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
    const tried = await namingDisk(sender, blocked, tryRun(sender, pending, refreshes && isFirst))
    if (tried.isTooLarge === true) return { done: await sendHalves(sender, pending, existing) }
    const searchable = isFirst && tried.searchable
    isFirst = false
    existing.push(...tried.existing)
    wasBlocked = blocked
    blocked = tried.blocked
    if (wasBlocked && !blocked) sender.onEvent({ type: 'unblocked' })
    const progress = tried.again.length < pending.length
    pending = tried.again
    if (pending.length === 0) return { done: { existing, searchable } }
    // Progress restarts the time limit, and so does a block, which an operator must clear.
    return { retryReason: tried.reason, anew: progress ? 'all' : blocked ? 'timeout' : undefined }
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

/** Adds the fullest disk to the reason of a new block, because a full disk is the usual cause. */
const namingDisk = async ({ connection }: Sender, wasBlocked: boolean, trying: Promise<Tried>): Promise<Tried> => {
  const tried = await trying
  if (!tried.blocked || wasBlocked) return tried
  return { ...tried, reason: [tried.reason, await fullestDisk(connection)].filter(Boolean).join(' ') }
}

const tryRun = async (sender: Sender, pending: readonly BulkItem[], refreshes: boolean): Promise<Tried> => {
  let answer: ElasticResponse
  let items: Answers
  try {
    answer = await sender.connection.send({
      method: 'POST',
      path: '/_bulk',
      query: {
        // Keeps a write from recreating a deleted index with a guessed mapping.
        require_alias: 'true',
        filter_path: ANSWERED,
        ...(refreshes ? { refresh: 'true' } : {}),
      },
      lines: pending.map(({ lines }) => lines).join(''),
      timeoutMs: sender.writeTimeoutMs,
    })
    if (answer.status >= 300) return wholeRefused(sender, pending, answer)
    items = answersOf(sender, pending, answer)
  } catch (error) {
    if (!(error instanceof Failure) || !error.retryable) throw error
    return { ...NOTHING_DONE, again: pending, reason: error.message }
  }
  return sortAnswers(sender, pending, items)
}

type Answers = readonly Readonly<Record<string, ItemAnswer>>[]

/** An unclear answer counts as no answer: the next attempt finds out which items were carried out. */
const answersOf = ({ connection }: Sender, pending: readonly BulkItem[], { text }: ElasticResponse): Answers => {
  const what = `write ${pending[0]?.index} in bulk`
  const { items } = parseAnswer<{ readonly items?: Answers }>({ connection, what }, text) ?? {}
  return requireValid(
    { connection, what },
    items,
    all =>
      Array.isArray(all) &&
      all.length === pending.length &&
      all.every((each, at) => Number.isInteger(each?.[pending[at]?.action ?? '']?.status)),
  )
}

const wholeRefused = (sender: Sender, pending: readonly BulkItem[], answer: ElasticResponse): Tried => {
  if (answer.status === TOO_LARGE && pending.length > 1)
    return { ...NOTHING_DONE, again: pending, reason: `${answer.status}`, isTooLarge: true }
  const error = errorOf(answer)
  const fate = fateOf({ action: 'index' }, { status: answer.status, error })
  if (fate === 'blocked' || isTransient(answer.status))
    return { ...NOTHING_DONE, again: pending, blocked: fate === 'blocked', reason: reasonOf(error) }
  throw toFailure({ connection: sender.connection, what: 'write in bulk' }, { status: answer.status, error })
}

const sortAnswers = (
  sender: Sender,
  pending: readonly BulkItem[],
  answers: readonly Readonly<Record<string, ItemAnswer>>[],
): Tried => {
  const again: BulkItem[] = []
  const existing: BulkItem[] = []
  let searchable = true
  let blocked = false
  let reason = ''
  for (const [at, item] of pending.entries()) {
    const answer = answers[at]?.[item.action] as ItemAnswer
    searchable &&= answer.forced_refresh === true
    const fate = fateOf(item, answer)
    if (fate === 'wrong')
      throw toFailure(
        { connection: sender.connection, what: `write ${item.index} '${item.id}'` },
        { status: answer.status, error: answer.error ?? {} },
        'defect',
      )
    if (fate === 'exists') existing.push(item)
    if (fate !== 'again' && fate !== 'blocked') continue
    again.push(item)
    blocked ||= fate === 'blocked'
    reason = `${item.index} '${item.id}': ${reasonOf(answer.error ?? {})}`
  }
  return { again, existing, searchable, blocked, reason }
}
