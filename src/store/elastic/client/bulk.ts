import type { estypes } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import type { TryResult } from '#time/retry.ts'
import { type Got, getMany } from './read-documents.ts'
import type { ElasticConnection, Ref, SeqNo } from './request.ts'
import {
  BLOCKED,
  callTyped,
  type ElasticError,
  formatReason,
  isTransient,
  MISSING_INDEX,
  parseAnswer,
  parseError,
  requireValid,
  TOO_LARGE,
  toElasticFailure,
} from './request.ts'
import { type Sender, toRetryReason, tryAgain } from './sender.ts'

export type BulkItem = {
  readonly action: 'create' | 'index' | 'delete'
  readonly index: string
  readonly id: string
  /** Text of the document; undefined for `delete`. */
  readonly source?: string
  /** Whether the item replaces only the version that was read. */
  readonly seen?: true
  /** The lines of the action as they are sent, each ended by a line feed. */
  readonly lines: string
  readonly bytes: number
}

type ItemAnswer = {
  readonly status: number
  readonly error?: ElasticError
  /** Whether the write is searchable in every copy. */
  readonly forced_refresh?: boolean
}

/** `meta`: further members of the action, each after a comma. */
export function toItem(
  action: BulkItem['action'],
  { index, id, meta = '' }: Ref & { readonly meta?: string },
  source?: string,
): BulkItem {
  // Concatenated instead of serialized, for speed: one item per document.
  const head = `{"${action}":{"_index":${JSON.stringify(index)},"_id":${JSON.stringify(id)}${meta}}}`
  const lines = source === undefined ? `${head}\n` : `${head}\n${source}\n`
  const bytes = Buffer.byteLength(lines)
  return { action, index, id, lines, bytes, ...(source === undefined ? {} : { source }) }
}

/** Writes a document unless a higher version is stored; the same version is written again. */
export function toVersionedItem(ref: Ref, version: number, source: string): BulkItem {
  return toItem('index', { ...ref, meta: `,"version":${version},"version_type":"external_gte"` }, source)
}

/** Overwrites the version that was read; refused if the document was written or deleted since. */
export function rewriteSeenItem(item: Pick<BulkItem, 'index' | 'id' | 'source'>, seen: SeqNo): BulkItem {
  return { ...toItem('index', { ...item, meta: formatSeen(seen) }, item.source), seen: true }
}

/** Deletes the version that was read; a document written since stays. */
export function deleteSeenItem(ref: Ref, seen: SeqNo): BulkItem {
  return toItem('delete', { ...ref, meta: formatSeen(seen) })
}

function formatSeen({ seqNo, primaryTerm }: SeqNo): string {
  return `,"if_seq_no":${seqNo},"if_primary_term":${primaryTerm}`
}

type ItemOutcome =
  /** Stored or deleted, or superseded by the stored document. */
  | 'done'
  /** The document already exists, or changed since it was read: the stored document must be equal. */
  | 'exists'
  /** Overload: the item is sent again later. */
  | 'again'
  /** The index accepts no writes, usually because of a full disk: the writer waits for an operator. */
  | 'blocked'
  | 'wrong'

export function judgeAnswer(
  { action, seen }: Pick<BulkItem, 'action' | 'seen'>,
  { status, error }: ItemAnswer,
): ItemOutcome {
  if (error?.type === BLOCKED) return 'blocked'
  if (status >= 200 && status < 300) return 'done'
  // Deleting a missing document is done; a missing index is an error.
  if (status === 404 && action === 'delete' && error?.type !== MISSING_INDEX) return 'done'
  // index: a newer version is stored. delete: the document was written since it was read.
  if (status === 409) return action === 'create' || seen ? 'exists' : 'done'
  return isTransient(status) ? 'again' : 'wrong'
}

/** Maximum bytes of a bulk request; bulk loading gets no faster with more. */
export const ONE_REQUEST_BYTES = 2_000_000

/** Cuts items lazily into runs of at most `maxBytes`; a larger item is a run of its own. */
export function* cutRuns<T extends { readonly bytes: number }>(
  items: Iterable<T>,
  maxBytes: number,
): Generator<readonly T[], void, void> {
  let run: T[] = []
  let room = maxBytes
  for (const each of items) {
    if (run.length > 0 && each.bytes > room) {
      yield run
      run = []
      room = maxBytes
    }
    run.push(each)
    room -= each.bytes
  }
  if (run.length > 0) yield run
}

/**
 * Names the disk with the smallest share of free space and its server, as a sentence for a message about
 * refused writes. undefined: the user lacks the privilege, or no server answers.
 */
async function findFullestDisk(connection: ElasticConnection): Promise<string | undefined> {
  // A hung server is left out of the answer.
  const timeoutMs = 5_000
  const asked = { metric: 'fs', filter_path: 'nodes.*.name,nodes.*.fs.data', timeout: `${timeoutMs}ms` } as const
  const calling = { what: 'read the state of the disks', timeoutMs }
  const toGigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1)
  try {
    const { nodes = {} } = await callTyped<estypes.NodesStatsResponse>(connection, calling, (client, options) =>
      client.nodes.stats(asked, options),
    )
    const disks = Object.values(nodes).flatMap(({ name = '', fs }) =>
      (fs?.data ?? []).map(({ path = '', total_in_bytes: total = 0, available_in_bytes: free = 0 }) => ({
        text: `The fullest disk is that of server ${name} (${path}): ${toGigabytes(free)} of ${toGigabytes(total)} GB are free.`,
        share: total === 0 ? 1 : free / total,
      })),
    )
    return disks.toSorted((a, b) => a.share - b.share)[0]?.text
  } catch {
    return undefined
  }
}

const IN_FLIGHT = 3

type BulkResult = {
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
export async function sendBulk(
  sender: Sender,
  items: Iterable<BulkItem>,
  { searchable: wanted = false }: { readonly searchable?: boolean } = {},
): Promise<BulkResult> {
  const runs = cutRuns(items, ONE_REQUEST_BYTES)
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

type Tried = BulkResult & {
  readonly again: readonly BulkItem[]
  readonly blocked: boolean
  readonly reason: string
  /** A server refused the request for its size: it is sent again in halves. */
  readonly isTooLarge: boolean
}

async function sendRun(sender: Sender, run: readonly BulkItem[], refreshes: boolean): Promise<BulkResult> {
  const existing: BulkItem[] = []
  let pending = run
  let isFirst = true
  let isBlocked = false
  const noteBlock = async ({ blocked, reason }: Tried): Promise<void> => {
    if (blocked === isBlocked) return
    isBlocked = blocked
    // A full disk is the usual cause of a block.
    const disk = blocked ? await findFullestDisk(sender.connection) : undefined
    if (blocked) sender.onEvent({ type: 'blocked', reason: disk === undefined ? reason : `${reason} ${disk}` })
    else sender.onEvent({ type: 'unblocked' })
  }
  const attempt = async (): Promise<TryResult<BulkResult>> => {
    // A replaced loader may find its partition read-only by now.
    if (!isFirst) sender.requireLease?.()
    // The refresh covers all items only if the first attempt writes them all.
    const tried = await tryRun(sender, pending, refreshes && isFirst)
    if (tried.isTooLarge) return { done: await sendHalves(sender, pending, existing) }
    const searchable = isFirst && tried.searchable
    isFirst = false
    existing.push(...tried.existing)
    await noteBlock(tried)
    const progress = tried.again.length < pending.length
    pending = tried.again
    if (pending.length === 0) return { done: { existing, searchable } }
    // Progress restarts the time limit, and so does a block, which an operator must clear.
    return { retryReason: tried.reason, anew: progress ? 'all' : isBlocked ? 'timeout' : undefined }
  }
  return tryAgain(sender, attempt, (reason, waitMs) => {
    if (!isBlocked) sender.onEvent({ type: 'retry', reason, waitMs })
  })
}

/** A proxy in front of Elasticsearch may accept smaller requests only. Halves are sent in order, down to single items. */
async function sendHalves(
  sender: Sender,
  items: readonly BulkItem[],
  existing: readonly BulkItem[],
): Promise<BulkResult> {
  const middle = Math.ceil(items.length / 2)
  const first = await sendRun(sender, items.slice(0, middle), false)
  const second = await sendRun(sender, items.slice(middle), false)
  return { existing: [...existing, ...first.existing, ...second.existing], searchable: false }
}

async function tryRun(sender: Sender, items: readonly BulkItem[], refreshes: boolean): Promise<Tried> {
  const nothing = { again: items, existing: [], searchable: false, blocked: false, isTooLarge: false }
  const filter_path =
    'items.*.status,items.*.forced_refresh,items.*.error.type,items.*.error.reason,items.*.error.caused_by'
  // Keeps a write from recreating a deleted index with a guessed mapping.
  const query = { require_alias: 'true', filter_path, ...(refreshes ? { refresh: 'true' } : {}) }
  const lines = items.map(item => item.lines).join('')
  const { connection, writeTimeoutMs: timeoutMs } = sender
  let answers: ItemAnswers
  try {
    const answer = await connection.send({ method: 'POST', path: '/_bulk', query, lines, timeoutMs })
    const { status } = answer
    if (status === TOO_LARGE && items.length > 1) return { ...nothing, reason: `${status}`, isTooLarge: true }
    const error = status < 300 ? {} : parseError(answer)
    const blocked = error.type === BLOCKED
    if (blocked || isTransient(status)) return { ...nothing, blocked, reason: formatReason(error) }
    if (status >= 300) throw toElasticFailure({ connection, what: 'write in bulk' }, { status, error })
    const origin = { connection, what: `write ${items[0]?.index} in bulk` }
    // An unclear answer counts as no answer: the next attempt finds out which items were carried out.
    answers = requireValid(
      origin,
      parseAnswer<{ readonly items?: ItemAnswers }>(origin, answer.text)?.items,
      all =>
        Array.isArray(all) &&
        all.length === items.length &&
        all.every((each, at) => Number.isInteger(each?.[items[at]?.action ?? '']?.status)),
    )
  } catch (error) {
    return { ...nothing, reason: toRetryReason(error) }
  }
  return sortAnswers(sender, items, answers)
}

type ItemAnswers = readonly Readonly<Record<string, ItemAnswer>>[]

function sortAnswers({ connection }: Sender, items: readonly BulkItem[], answers: ItemAnswers): Tried {
  const again: BulkItem[] = []
  const existing: BulkItem[] = []
  let [searchable, blocked, reason] = [true, false, '']
  for (const [at, item] of items.entries()) {
    const answer = answers[at]?.[item.action] as ItemAnswer
    const { status, error = {} } = answer
    searchable &&= answer.forced_refresh === true
    const verdict = judgeAnswer(item, answer)
    if (verdict === 'wrong')
      throw toElasticFailure({ connection, what: `write ${item.index} '${item.id}'` }, { status, error }, 'defect')
    if (verdict === 'exists') existing.push(item)
    if (verdict !== 'again' && verdict !== 'blocked') continue
    again.push(item)
    blocked ||= verdict === 'blocked'
    reason = `${item.index} '${item.id}': ${formatReason(error)}`
  }
  return { again, existing, searchable, blocked, reason, isTooLarge: false }
}

/**
 * Sends every item until each document has been acknowledged by a write. An existing document proves only
 * that one copy has it. An attempt whose answer was lost may still be on its way to the other copies, and if
 * the only copy dies, the document is gone. So an existing document is compared and then rewritten, with
 * compare-and-set on the version that was read; an acknowledged write is in every copy. Throws 'conflict' on
 * a document with different content. Returns `BulkResult.searchable`.
 */
export async function sendAcknowledged(
  sender: Sender,
  items: Iterable<BulkItem>,
  options: { readonly searchable?: boolean } = {},
): Promise<boolean> {
  const { existing, searchable } = await sendBulk(sender, items, options)
  if (existing.length === 0) return searchable
  let unclear = existing
  return tryAgain(sender, async () => {
    // A loader that was replaced may be reading the next loader's documents.
    sender.requireLease?.()
    const stored = await getMany(sender.connection, unclear, { realtime: true })
    const again = unclear.map((item, at) => toAcknowledgment(item, stored[at]))
    const { existing: left } = await sendBulk(sender, again)
    const [first] = left
    if (first === undefined) return { done: false }
    const progress = left.length < unclear.length
    unclear = left
    // The version that was read is out of date: a rewrite's answer was lost, or the copy lags.
    return {
      retryReason: `${first.index} '${first.id}' is not acknowledged yet.`,
      anew: progress ? 'timeout' : undefined,
    }
  })
}

/** The write to be acknowledged, in place of a write that found an existing document. */
function toAcknowledgment(item: BulkItem, got: Got | undefined): BulkItem {
  const { index, id, source = '{}' } = item
  // The only copy with the document is gone, or this copy does not have it yet.
  if (got === undefined) return toItem('create', item, source)
  // Both sides have the field order of the definitions.
  if (JSON.stringify(got.source) === JSON.stringify(JSON.parse(source))) return rewriteSeenItem(item, got)
  throw new Failure('conflict', `Another loader wrote ${index} '${id}' with different content.`, {
    help: "Stop the other loader, then restart this one. If none is running, one had loaded from another node: run 'iostlens repair --node URL'.",
  })
}
