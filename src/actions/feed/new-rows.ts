import { Failure } from '#failure/failure.ts'
import { type HeadBlock, type HeadState, selectHead } from '#head/head-state.ts'
import { listAndOrdinal, lists } from '#indices/list.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { missingData } from '#store/failures.ts'
import type { Published, View } from '#store/port.ts'
import { blockHashes, type End, isOnChain, readBlocks } from '../find/blocks-at.ts'
import { type Followed, formatRowLines, type Rows } from '../find/listing.ts'
import { headRecords, headTransactions, readTransactions } from '../find/numbered.ts'
import { readNewChanges } from '../find/series.ts'
import type { Options } from '../request/options.ts'
import { readTrail, type Trail } from './message.ts'

/** A list and the format of its rows. All readers with the same `name` share it. */
export type FeedList = {
  readonly name: string
  readonly followed: Followed
  /** Whether rows of blocks that are not yet irreversible are sent, too. */
  readonly isHead: boolean
  readonly rows: (view: View, docs: readonly unknown[]) => Promise<Rows>
  readonly options: Pick<Options, 'numbers'>
}

export type FeedProgress = {
  list: FeedList
  /** The `seq` of the next row to send. */
  next: number
  /** The head blocks whose rows were sent. These rows are not serialized again. */
  held: readonly HeadLines[]
}

/** The rows of a list in one block, as JSON. */
type HeadLines = { readonly height: number; readonly hash: string; readonly lines: readonly string[] }

/** Maximum number of blocks per read. After a longer gap each reader continues by itself, page by page. */
const MAX_BLOCKS = 200

type NewRowsRequest = {
  /** The height up to which the lists were read. */
  readonly since: Published
  /** Other blocks up to which readers have rows. */
  readonly ends: readonly End[]
  readonly groups: readonly FeedProgress[]
  readonly trail: Trail | undefined
  readonly branch: readonly HeadBlock[]
  /** The head blocks as known just before; undefined: the service follows no node. */
  readonly head: HeadState | undefined
}

/** New rows of a list: irreversible ones as JSON, where `first` is the `seq` of the first row; and the head blocks. */
export type FoundRows = {
  readonly news: { readonly first: number; readonly lines: readonly string[] } | undefined
  /** undefined: the list is followed without head blocks. */
  readonly head: HeadChange | undefined
}

/** The state of the head blocks for the readers of a list. */
type HeadChange = {
  /** The height up to which the chain still has the blocks that were sent. */
  readonly common: number
  /** The head blocks with rows; undefined: the branch is unknown. Rows that may still be valid are then kept. */
  readonly blocks: readonly HeadLines[] | undefined
}

/** The new rows of each group. 'behind': its readers must read the list by themselves. */
export type NewRows = {
  readonly at: Published
  readonly trail: Trail
  readonly branch: readonly HeadBlock[]
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
  { since, ends, groups, trail: known, branch, head }: NewRowsRequest,
): Promise<NewRows> {
  const { at } = view
  const areOn = await Promise.all(ends.map(end => isOnChain(view, end)))
  const trail = known?.[0].hash === at.hash ? known : await readTrail(view)
  if (at.height - since.height > MAX_BLOCKS || !(await isOnChain(view, since)))
    return { at, trail, branch: [], found: groups.map(() => 'behind'), areOn }
  const rowsOf = await collectNewRows(view, groups, since)
  const above = groups.some(({ list }) => list.isHead) ? await compareBranch(view, branch, head) : undefined
  const found = groups.map(async (group): Promise<FoundRows | 'behind'> => {
    try {
      const { list, held } = group
      const news = await readNews(view, group, await rowsOf(group))
      if (above === undefined || !list.isHead) return { news, head: undefined }
      const { common, now } = above
      const blocks = now === undefined ? undefined : await formatBlockLines(view, { list, held, branch: now })
      return { news, head: { common, blocks } }
    } catch (error) {
      // Damage of one list must not delay the rows of others.
      if (error instanceof Failure && BROKEN.has(error.kind)) return 'behind'
      throw error
    }
  })
  return { at, trail, branch: above?.left ?? [], found: await Promise.all(found), areOn }
}

const BROKEN: ReadonlySet<Failure['kind']> = new Set(['damaged', 'defect', 'bad_request', 'bad_block'])

/** `doc`: in the form that `Listing.rows` takes. */
type Row = { readonly seq: number; readonly doc: unknown }

/** The new rows of a group in the order of its list. Throws 'damaged' if one is missing. */
async function readNews(view: View, { list, next }: FeedProgress, all: readonly Row[]): Promise<FoundRows['news']> {
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
  return { first: next, lines }
}

/** The rows that blocks above `since` added to any of the lists, by the source that a list follows. */
async function collectNewRows(view: View, groups: readonly FeedProgress[], since: Published) {
  if (view.at.height === since.height) return async (_group: FeedProgress): Promise<readonly Row[]> => []
  const records = readRecordsByList(view, groups, since.height)
  const isFollowed = (kind: Followed['kind']) => groups.some(({ list }) => list.followed.kind === kind)
  const made = isFollowed('blocks') ? readNewBlocks(view, since.height) : []
  const transactions = isFollowed('transactions') ? readNewTransactions(view, groups) : []
  // A failure concerns only the lists with these rows.
  await Promise.allSettled([records, made, transactions])
  return async ({ list: { followed }, next }: FeedProgress): Promise<readonly Row[]> => {
    if (followed.kind === 'series')
      return (await readNewChanges(view, followed.key, next)).map(row => ({ seq: row.seq, doc: row }))
    if (followed.kind === 'records') return (await records).get(followed.key) ?? []
    return followed.kind === 'blocks' ? made : transactions
  }
}

async function readRecordsByList(
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
      own.push({ seq: ordinal, doc: { seq: ordinal, doc } })
      rows.set(key, own)
    }
  return rows
}

async function readNewTransactions(view: View, groups: readonly FeedProgress[]): Promise<readonly Row[]> {
  const nexts = groups.flatMap(({ list, next }) => (list.followed.kind === 'transactions' ? [next] : []))
  const first = Math.min(...nexts)
  const count = (await view.get(statistics, STATISTICS))?.transaction_count ?? 0
  if (first > count) return []
  const docs = await readTransactions(view, first, count)
  return docs.map((doc, at) => ({ seq: first + at, doc: { seq: first + at, doc } }))
}

/** The list of blocks begins with block 0. */
async function readNewBlocks(view: View, height: number): Promise<readonly Row[]> {
  const heights = Array.from({ length: view.at.height - height }, (_, at) => height + 1 + at)
  return (await readBlocks(view, heights)).map(doc => {
    const seq = doc.height + 1
    return { seq, doc: { seq, doc } }
  })
}

/**
 * Compares the head blocks that were sent with the chain, which consists of the published blocks and the present head
 * blocks (`now`). `now` undefined: the branch is unknown, so blocks above the published one are not contradicted.
 * `left`: the blocks with which the next read compares.
 */
async function compareBranch(view: View, sent: readonly HeadBlock[], head: HeadState | undefined) {
  const { at } = view
  const stored = await blockHashes(
    view,
    sent.map(({ doc }) => doc.height).filter(height => height <= at.height),
  )
  const { status, blocks } = selectHead(head, at)
  const now = status === 'followed' ? blocks : undefined
  const isGone = ({ doc: { height, hash } }: HeadBlock): boolean =>
    height <= at.height
      ? stored.get(height) !== hash
      : now !== undefined && now[height - at.height - 1]?.doc.hash !== hash
  const gone = sent.findIndex(isGone)
  const valid = gone < 0 ? sent : sent.slice(0, gone)
  const common = gone < 0 ? Number.POSITIVE_INFINITY : (sent[gone]?.doc.height ?? 0) - 1
  return { now, common, left: now ?? valid.filter(({ doc }) => doc.height > at.height) }
}

type OnBranch = Pick<FeedProgress, 'list' | 'held'> & { readonly branch: readonly HeadBlock[] }

/**
 * The blocks of a branch that have rows of a list; rows serialized before are reused. undefined: the rows
 * cannot be serialized. As with an unknown branch, they are sent once they are irreversible.
 */
async function formatBlockLines(
  view: View,
  { list, held, branch }: OnBranch,
): Promise<readonly HeadLines[] | undefined> {
  const written: HeadLines[] = []
  for (const block of branch) {
    const { height, hash } = block.doc
    const docs = headDocs(list.followed, block).map(doc => ({ seq: 0, doc, above: block }))
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
