import { Failure } from '#failure/failure.ts'
import { type HeadBlock, type HeadState, headAt } from '#head/head-state.ts'
import { listAndOrdinal, lists } from '#indices/list.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { missingData } from '#store/missing-data.ts'
import type { Published, View } from '#store/port.ts'
import { blocksAt, type End, isOn } from '../find/blocks-at.ts'
import { newChanges } from '../list/changes.ts'
import { headRecords } from '../list/head-rows.ts'
import { blockHashes } from '../list/row-id.ts'
import { linesOf } from '../list/rows.ts'
import { headTransactions, transactionsFrom } from '../list/transactions.ts'
import type { FeedList, Progress } from './feed-list.ts'
import type { BlockLines, ChainState } from './follow-branch.ts'
import type { Followed } from './followed.ts'
import { landmarksOf } from './landmarks.ts'
import { trailText } from './trail-text.ts'

/** Maximum number of blocks per read. After a longer gap each reader continues by itself, page by page. */
const MOST_BLOCKS = 200

type NewRowsRequest = {
  /** The height up to which the lists were read. */
  readonly since: Published
  /** Other blocks up to which readers have rows. */
  readonly ends: readonly End[]
  readonly groups: readonly Progress[]
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
export type Found = {
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
  readonly found: readonly (Found | 'behind')[]
  /** Whether each of the other blocks (`ends`) belongs to the chain. */
  readonly areOn: readonly boolean[]
}

/**
 * The rows added to some lists since a height, and the current head blocks, from one read of the store. All
 * groups are 'behind' if the block of that height was rolled back.
 */
export const readNewRows = async (
  view: View,
  { since, ends, groups, landmarks, trail: known, head }: NewRowsRequest,
): Promise<NewRows> => {
  const { at } = view
  const behind = groups.map(() => 'behind' as const)
  const areOn = await Promise.all(ends.map(end => isOn(view, end)))
  if (!(await isOn(view, since))) return { at, landmarks, trail: known, found: behind, areOn }
  const trail = known?.hash === at.hash ? known : { hash: at.hash, text: await trailText(view) }
  const next = { at, landmarks: await landmarksOf(view, landmarks), trail, areOn }
  if (at.height - since.height > MOST_BLOCKS) return { ...next, found: behind }
  const rowsOf = await newRows(view, groups, since)
  const above = groups.some(({ list }) => list.isHead) ? await headAfter(view, since, head) : undefined
  const found = groups.map(async (group): Promise<Found | 'behind'> => {
    try {
      const { list, held } = group
      const news = await newsOf(view, group, await rowsOf(group))
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
const newsOf = async (view: View, { list, next }: Progress, all: readonly Row[]): Promise<News | undefined> => {
  const rows = all.filter(({ seq }) => seq >= next).toSorted((a, b) => a.seq - b.seq)
  if (rows.length === 0) return undefined
  for (const [at, { seq }] of rows.entries())
    if (seq !== next + at) throw missingData(`A list has no row ${next + at}, and a row ${seq} behind it.`)
  const lines = linesOf(
    await list.rows(
      view,
      rows.map(({ doc }) => doc),
    ),
    list.options,
  )
  return { first: next, lines, heights: rows.map(({ height }) => height) }
}

/** The rows that blocks above `since` added to any of the lists, by the source that a list follows. */
const newRows = async (view: View, groups: readonly Progress[], since: Published) => {
  if (view.at.height === since.height) return async (_group: Progress): Promise<readonly Row[]> => []
  const records = await recordsByList(view, groups, since.height)
  const isFollowed = (kind: Followed['kind']) => groups.some(({ list }) => list.followed.kind === kind)
  const made = isFollowed('blocks') ? newBlocks(view, since.height) : []
  const transactions = isFollowed('transactions') ? newTransactions(view, groups) : []
  // A failure concerns only the lists with these rows.
  await Promise.allSettled([made, transactions])
  return async ({ list: { followed }, next }: Progress): Promise<readonly Row[]> => {
    if (followed.kind === 'series') return rowsOfSeries(view, followed.key, next)
    if (followed.kind === 'records') return records.get(followed.key) ?? []
    return followed.kind === 'blocks' ? made : transactions
  }
}

const rowsOfSeries = async (view: View, key: string, next: number): Promise<readonly Row[]> =>
  (await newChanges(view, key, next)).map(row => ({ seq: row.seq, height: row.doc.entry.height, doc: row }))

/** Rows by the keys of the followed lists. */
const recordsByList = async (
  view: View,
  groups: readonly Progress[],
  height: number,
): Promise<ReadonlyMap<string, readonly Row[]>> => {
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

const newTransactions = async (view: View, groups: readonly Progress[]): Promise<readonly Row[]> => {
  const nexts = groups.flatMap(({ list, next }) => (list.followed.kind === 'transactions' ? [next] : []))
  const first = Math.min(...nexts)
  const count = (await view.get(statistics, STATISTICS))?.transaction_count ?? 0
  if (first > count) return []
  const docs = await transactionsFrom(view, first, count)
  return docs.map((doc, at) => ({ seq: first + at, height: doc.doc.height, doc: { seq: first + at, doc } }))
}

/** The list of blocks begins with block 0. */
const newBlocks = async (view: View, height: number): Promise<readonly Row[]> => {
  const heights = Array.from({ length: view.at.height - height }, (_, at) => height + 1 + at)
  return (await blocksAt(view, heights)).map(doc => {
    const seq = doc.height + 1
    return { seq, height: doc.height, doc: { seq, doc } }
  })
}

/** The hashes of the blocks published since, and the branch above them; undefined: it is unknown. */
const headAfter = async (view: View, since: Published, head: HeadState | undefined) => {
  const { at } = view
  const heights = Array.from({ length: at.height - since.height }, (_, more) => since.height + 1 + more)
  const hashes = await blockHashes(view, heights)
  const { status, blocks: branch } = headAt(head, at)
  return {
    published: { height: at.height, storedHash: (height: number) => hashes.get(height) },
    branch: status === 'followed' ? branch : undefined,
  }
}

type OnBranch = Pick<Progress, 'list' | 'held'> & { readonly branch: readonly HeadBlock[] }

/**
 * The blocks of a branch that have rows of a list; rows serialized before are reused. undefined: the rows
 * cannot be serialized. As with an unknown branch, they are sent once they are irreversible.
 */
const blockLines = async (view: View, { list, held, branch }: OnBranch): Promise<readonly BlockLines[] | undefined> => {
  const written: BlockLines[] = []
  for (const block of branch) {
    const { height, hash } = block.doc
    const docs = docsOf(list.followed, block)
    if (docs.length === 0) continue
    const lines = held.find(known => known.hash === hash)?.lines ?? (await linesAbove(view, list, docs))
    if (lines === undefined) return undefined
    written.push({ height, hash, lines })
  }
  return written
}

const linesAbove = async (view: View, list: FeedList, docs: readonly unknown[]) => {
  try {
    return linesOf(await list.rows(view, docs), list.options)
  } catch (error) {
    if (error instanceof Failure && BROKEN.has(error.kind)) return undefined
    throw error
  }
}

/** The rows of a block in the form that `Listing.rows` takes. Their numbers are not known yet, and not shown. */
const docsOf = (followed: Followed, block: HeadBlock): readonly unknown[] =>
  headDocs(followed, block).map(doc => ({ seq: 0, doc, above: block }))

const headDocs = (followed: Followed, block: HeadBlock): readonly unknown[] => {
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
