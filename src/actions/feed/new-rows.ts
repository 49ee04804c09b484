import { Failure } from '#failure/failure.ts'
import { type HeadBlock, type HeadState, selectHead } from '#head/head-state.ts'
import { listAndOrdinal, lists } from '#indices/list.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { missingData } from '#store/missing-data.ts'
import type { Published, View } from '#store/port.ts'
import { type End, isOnChain, readBlocks } from '../find/blocks-at.ts'
import { newChanges } from '../list/changes.ts'
import { headRecords } from '../list/head-rows.ts'
import { blockHashes } from '../list/row-id.ts'
import { formatRowLines } from '../list/rows.ts'
import { headTransactions, readTransactions } from '../list/transactions.ts'
import type { FeedList, FeedProgress } from './feed-list.ts'
import type { ChainState, HeadLines } from './follow-branch.ts'
import type { Followed } from './followed.ts'
import { updateLandmarks } from './landmarks.ts'
import { trailText } from './trail-text.ts'

/** Maximum number of blocks per read. After a longer gap each reader continues by itself, page by page. */
const MAX_BLOCKS = 200

type NewRowsRequest = {
  /** The height up to which the lists were read. */
  readonly since: Published
  /** Other blocks up to which readers have rows. */
  readonly ends: readonly End[]
  readonly groups: readonly FeedProgress[]
  /** undefined: there are no landmarks yet. */
  readonly landmarks: readonly End[] | undefined
  /** The trail of the last read; undefined: there was none. */
  readonly trail: TrailText | undefined
  /** The head blocks as known just before; undefined: the service follows no node. */
  readonly head: HeadState | undefined
}

/**
 * New rows of a list: irreversible ones as JSON, each with the height of its block, where `first` is the
 * `seq` of the first row; and the head blocks.
 */
export type FoundRows = {
  readonly news: News | undefined
  /** undefined: the list is followed without head blocks. */
  readonly head: ChainState | undefined
}
/** The end of ids (`trailText`) while the block with this hash is the published one. */
export type TrailText = { readonly hash: string; readonly text: string }
type News = { readonly first: number; readonly lines: readonly string[]; readonly heights: readonly number[] }

/** The new rows of each group. 'behind': its readers must read the list by themselves. */
export type NewRows = {
  readonly at: Published
  readonly landmarks: readonly End[] | undefined
  readonly trail: TrailText | undefined
  readonly found: readonly (FoundRows | 'behind')[]
  /** Whether each of the other blocks (`ends`) belongs to the chain. */
  readonly areOn: readonly boolean[]
}

/**
 * The rows added to some lists since a height, and the current head blocks, from one read of the store. All
 * groups are 'behind' if the block of that height was rolled back.
 */
export async function readNewRows(
  view: View,
  { since, ends, groups, landmarks, trail: known, head }: NewRowsRequest,
): Promise<NewRows> {
  const { at } = view
  const behind = groups.map(() => 'behind' as const)
  const areOn = await Promise.all(ends.map(end => isOnChain(view, end)))
  if (!(await isOnChain(view, since))) return { at, landmarks, trail: known, found: behind, areOn }
  const trail = known?.hash === at.hash ? known : { hash: at.hash, text: await trailText(view) }
  const next = { at, landmarks: await updateLandmarks(view, landmarks), trail, areOn }
  if (at.height - since.height > MAX_BLOCKS) return { ...next, found: behind }
  const rowsOf = await newRows(view, groups, since)
  const above = groups.some(({ list }) => list.isHead) ? await readHeadChange(view, since, head) : undefined
  const found = groups.map(async (group): Promise<FoundRows | 'behind'> => {
    try {
      const { list, held } = group
      const news = await readNews(view, group, await rowsOf(group))
      if (above === undefined || !list.isHead) return { news, head: undefined }
      const { published, branch } = above
      const now = branch === undefined ? undefined : await blockLines(view, { list, held, branch })
      return { news, head: { ...published, now } }
    } catch (error) {
      // Damage of one list must not delay the rows of others.
      if (error instanceof Failure && BROKEN.has(error.kind)) return 'behind'
      throw error
    }
  })
  return { ...next, found: await Promise.all(found) }
}

const BROKEN: ReadonlySet<Failure['kind']> = new Set(['damaged', 'defect', 'bad_request', 'bad_block'])

/** `doc`: in the form that `Listing.rows` takes. */
type Row = { readonly seq: number; readonly height: number; readonly doc: unknown }

/** The new rows of a group in the order of its list. Throws 'damaged' if one is missing. */
async function readNews(view: View, { list, next }: FeedProgress, all: readonly Row[]): Promise<News | undefined> {
  const rows = all.filter(({ seq }) => seq >= next).toSorted((a, b) => a.seq - b.seq)
  if (rows.length === 0) return undefined
  for (const [at, { seq }] of rows.entries())
    if (seq !== next + at) throw missingData(`A list has no row ${next + at}, and a row ${seq} behind it.`)
  const lines = formatRowLines(
    await list.rows(
      view,
      rows.map(({ doc }) => doc),
    ),
    list.options,
  )
  return { first: next, lines, heights: rows.map(({ height }) => height) }
}

/** The rows that blocks above `since` added to any of the lists, by the source that a list follows. */
async function newRows(view: View, groups: readonly FeedProgress[], since: Published) {
  if (view.at.height === since.height) return async (_group: FeedProgress): Promise<readonly Row[]> => []
  const records = await recordsByList(view, groups, since.height)
  const isFollowed = (kind: Followed['kind']) => groups.some(({ list }) => list.followed.kind === kind)
  const made = isFollowed('blocks') ? newBlocks(view, since.height) : []
  const transactions = isFollowed('transactions') ? newTransactions(view, groups) : []
  // A failure concerns only the lists with these rows.
  await Promise.allSettled([made, transactions])
  return async ({ list: { followed }, next }: FeedProgress): Promise<readonly Row[]> => {
    if (followed.kind === 'series') return rowsOfSeries(view, followed.key, next)
    if (followed.kind === 'records') return records.get(followed.key) ?? []
    return followed.kind === 'blocks' ? made : transactions
  }
}

const rowsOfSeries = async (view: View, key: string, next: number): Promise<readonly Row[]> =>
  (await newChanges(view, key, next)).map(row => ({ seq: row.seq, height: row.doc.entry.height, doc: row }))

/** Rows by the keys of the followed lists. */
async function recordsByList(
  view: View,
  groups: readonly FeedProgress[],
  height: number,
): Promise<ReadonlyMap<string, readonly Row[]>> {
  const asked = groups.flatMap(({ list: { followed }, next }) =>
    followed.kind === 'records' ? [{ ...followed, next }] : [],
  )
  const ids = asked.filter(({ number }) => number === undefined).map(({ key }) => key)
  const begun = await view.getMany(lists, ids)
  const numbers = new Map(begun.flatMap(doc => (doc === undefined ? [] : [[doc.id, doc.number]])))
  const keys = new Map<number, string>()
  const after = new Map<number, number>()
  for (const { key, next, number = numbers.get(key) } of asked) {
    if (number === undefined) continue
    keys.set(number, key)
    after.set(number, Math.min(after.get(number) ?? Number.POSITIVE_INFINITY, next - 1))
  }
  const rows = new Map<string, Row[]>()
  if (after.size === 0) return rows
  for (const doc of await view.newRecords(after, height))
    for (const { list, ordinal } of doc.places.map(listAndOrdinal)) {
      const key = keys.get(list)
      if (key === undefined) continue
      const own = rows.get(key) ?? []
      own.push({ seq: ordinal, height: doc.height, doc: { seq: ordinal, doc } })
      rows.set(key, own)
    }
  return rows
}

async function newTransactions(view: View, groups: readonly FeedProgress[]): Promise<readonly Row[]> {
  const nexts = groups.flatMap(({ list, next }) => (list.followed.kind === 'transactions' ? [next] : []))
  const first = Math.min(...nexts)
  const count = (await view.get(statistics, STATISTICS))?.transaction_count ?? 0
  if (first > count) return []
  const docs = await readTransactions(view, first, count)
  return docs.map((doc, at) => ({ seq: first + at, height: doc.doc.height, doc: { seq: first + at, doc } }))
}

/** The list of blocks begins with block 0. */
async function newBlocks(view: View, height: number): Promise<readonly Row[]> {
  const heights = Array.from({ length: view.at.height - height }, (_, at) => height + 1 + at)
  return (await readBlocks(view, heights)).map(doc => {
    const seq = doc.height + 1
    return { seq, height: doc.height, doc: { seq, doc } }
  })
}

/** The hashes of the blocks published since, and the branch above them; undefined: it is unknown. */
async function readHeadChange(view: View, since: Published, head: HeadState | undefined) {
  const { at } = view
  const heights = Array.from({ length: at.height - since.height }, (_, more) => since.height + 1 + more)
  const hashes = await blockHashes(view, heights)
  const { status, blocks: branch } = selectHead(head, at)
  return {
    published: { height: at.height, storedHash: (height: number) => hashes.get(height) },
    branch: status === 'followed' ? branch : undefined,
  }
}

type OnBranch = Pick<FeedProgress, 'list' | 'held'> & { readonly branch: readonly HeadBlock[] }

/**
 * The blocks of a branch that have rows of a list; rows serialized before are reused. undefined: the rows
 * cannot be serialized. As with an unknown branch, they are sent once they are irreversible.
 */
async function blockLines(view: View, { list, held, branch }: OnBranch): Promise<readonly HeadLines[] | undefined> {
  const written: HeadLines[] = []
  for (const block of branch) {
    const { height, hash } = block.doc
    const docs = toHeadDocs(list.followed, block)
    if (docs.length === 0) continue
    const lines = held.find(known => known.hash === hash)?.lines ?? (await formatHeadLines(view, list, docs))
    if (lines === undefined) return undefined
    written.push({ height, hash, lines })
  }
  return written
}

async function formatHeadLines(view: View, list: FeedList, docs: readonly unknown[]) {
  try {
    return formatRowLines(await list.rows(view, docs), list.options)
  } catch (error) {
    if (error instanceof Failure && BROKEN.has(error.kind)) return undefined
    throw error
  }
}

/** The rows of a block in the form that `Listing.rows` takes. Their numbers are not known yet, and not shown. */
const toHeadDocs = (followed: Followed, block: HeadBlock): readonly unknown[] =>
  headDocs(followed, block).map(doc => ({ seq: 0, doc, above: block }))

function headDocs(followed: Followed, block: HeadBlock): readonly unknown[] {
  switch (followed.kind) {
    case 'records':
      return headRecords(followed.key, block)
    case 'blocks':
      return [block.doc]
    case 'transactions':
      return headTransactions(block)
    case 'series':
      // These lists do not accept `head`: the changes of a state by a head block are not known in advance.
      return []
  }
}
