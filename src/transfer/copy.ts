import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks, listBlockHashes, listTransactionIds } from '#indices/block.ts'
import type { DocOf } from '#indices/define.ts'
import { blockId, type ListDoc, lists, recordId } from '#indices/list.ts'
import { type RecordDoc, records } from '#indices/record.ts'
import { type StateIndex, stateIndices } from '#indices/registry.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import { batchBuilder, createPartitioning } from '#load/batches.ts'
import { ONE_PARTITION, UNDO_LIMITS } from '#store/batch.ts'
import { nothingLoaded, RUN_REPAIR } from '#store/failures.ts'
import type { Audit, Moment, Rewrite, Store, StoredDocument, Writer } from '#store/port.ts'
import {
  computeDigests,
  type Digest,
  type DigestOptions,
  keepReadable,
  mergePartitionDigests,
  requireSameDigests,
  sumDocuments,
} from './digest.ts'
import { copyKeys } from './keys.ts'

/** Rows read in one request. */
const SAMPLES = 32

/**
 * The starts of a list in partitions with these first heights, in the form of its document. `momentsOf`
 * returns the moments of the rows with the given ordinals, ascending.
 */
export async function findListStarts(
  firsts: readonly number[],
  { count }: ListDoc,
  momentsOf: (ordinals: readonly number[]) => Promise<readonly Pick<Moment, 'height'>[]>,
): Promise<ListDoc['starts']> {
  const starts: (readonly [number, number])[] = []
  let before = 0
  for (const partition of firsts.keys()) {
    const end = firsts[partition + 1]
    const until = end === undefined ? count : await countLowerRows(end, { from: before, count }, momentsOf)
    if (until > before) starts.push([partition, before + 1])
    before = until
  }
  return starts
}

/** The number of rows of a list in blocks below a height; at least `from` of them are known to be. */
async function countLowerRows(
  height: number,
  { from, count }: { readonly from: number; readonly count: number },
  momentsOf: (ordinals: readonly number[]) => Promise<readonly Pick<Moment, 'height'>[]>,
): Promise<number> {
  let [least, most] = [from, count]
  while (least < most) {
    const looked = spread(least + 1, most)
    const moments = await momentsOf(looked)
    const above = moments.findIndex(moment => moment.height >= height)
    if (above < 0) least = looked.at(-1) ?? most
    else {
      most = (looked[above] ?? most) - 1
      least = looked[above - 1] ?? least
    }
  }
  return least
}

/** At most `SAMPLES` integers from `first` to `last`, evenly spread and including both. */
function spread(first: number, last: number): readonly number[] {
  const length = Math.min(SAMPLES, last - first + 1)
  if (length === 1) return [first]
  return Array.from({ length }, (_, at) => first + Math.floor(((last - first) * at) / (length - 1)))
}

/** Blocks per read. */
const BLOCKS_AT_ONCE = 100
/** Rows of a transaction requested at first, and the factor of further requests while all requested rows exist. */
const [ROWS, MORE] = [2, 8]

/**
 * Whole blocks from height `from` to `to` with their transactions and rows, in order. Throws 'damaged' when a block or
 * transaction is missing.
 */
const readStoredHistory = async function* (
  audit: Pick<Audit, 'getMany'>,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<{ block: BlockDoc; transactions: readonly TransactionDoc[]; records: readonly RecordDoc[] }> {
  for (let first = from; first <= to; first += BLOCKS_AT_ONCE) {
    const last = Math.min(to, first + BLOCKS_AT_ONCE - 1)
    const heights = Array.from({ length: last - first + 1 }, (_, at) => first + at)
    const blockIds = heights.map(blockId)
    const heads = requireWhole(blocks.name, blockIds, await audit.getMany(blocks, blockIds))
    const ids = heads.flatMap(listTransactionIds)
    const all = requireWhole(transactions.name, ids, await audit.getMany(transactions, ids))
    const texts = Map.groupBy(all, ({ height }) => height)
    const rows = Map.groupBy(await readBlockRows(audit, heads), ({ height }) => height)
    for (const block of heads) {
      const { height } = block
      yield { block, transactions: texts.get(height) ?? [], records: rows.get(height) ?? [] }
    }
  }
}

const requireWhole = <D>(index: string, ids: readonly string[], docs: readonly (D | undefined)[]): readonly D[] =>
  docs.map((doc, at) => {
    if (doc !== undefined) return doc
    throw new Failure('damaged', `${index}: ${ids[at]} is missing or cannot be read.`, {
      help: RUN_REPAIR,
      details: { index },
    })
  })

/** The rows of all transactions of some blocks, in order. A transaction's rows are numbered without a gap. */
async function readBlockRows(audit: Pick<Audit, 'getMany'>, heads: readonly BlockDoc[]): Promise<readonly RecordDoc[]> {
  let looks = heads.flatMap(block =>
    listBlockHashes(block).map((_, tx) => ({ height: block.height, tx, from: 0, to: ROWS })),
  )
  const found: RecordDoc[] = []
  while (looks.length > 0) {
    const ids = looks.flatMap(({ height, tx, from, to }) =>
      Array.from({ length: to - from }, (_, at) => recordId(height, tx, from + at)),
    )
    const docs = await audit.getMany(records, ids)
    let at = 0
    const further: typeof looks = []
    for (const look of looks) {
      const rows = docs.slice(at, at + look.to - look.from)
      at += rows.length
      for (const row of rows) if (row !== undefined) found.push(row)
      if (rows.at(-1) !== undefined) further.push({ ...look, from: look.to, to: look.to * MORE })
    }
    looks = further
  }
  return found.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/**
 * Copies the blocks after the writer's checkpoint, with their transactions and rows, in batches without
 * state. The next run continues after the last committed batch.
 */
async function copyHistory({ source, writer }: Sides, { signal, onProgress }: DigestOptions): Promise<void> {
  const from = (writer.checkpoint?.height ?? -1) + 1
  const { at } = source
  // These batches have no state, so none of them is ever undone.
  const lib = at.height + UNDO_LIMITS.near + 1
  const partitions = createPartitioning(writer.partitions)
  let batch = batchBuilder(writer.bounds)
  const append = (): Promise<void> => writer.append(batch.takePart(partitions.filling()))
  const commit = async (): Promise<void> => {
    await append()
    await writer.commit({ end: batch.end(lib), changes: [] })
    batch = batchBuilder(writer.bounds)
    await keepReadable(source)
  }
  for await (const stored of readStoredHistory(source, { from, to: at.height })) {
    signal.throwIfAborted()
    const documents = { ...stored, changes: [] }
    batch.add(documents)
    partitions.add(documents)
    if (batch.full(0) || partitions.full()) await commit()
    else if (batch.partFull) await append()
    onProgress({ stage: blocks.name, done: stored.block.height + 1, of: at.height + 1 })
  }
  if (!batch.empty) await commit()
}

/** Documents per write. */
const DOCUMENTS_AT_ONCE = 5_000

/** Number of pages of the source that take some minutes at most. */
const PAGES = 300

/** The two stores of a copy: `source` is the one height of `from` that is copied. */
type Sides = { readonly from: Store; readonly source: Audit; readonly to: Store; readonly writer: Writer }

/** Copies all state documents; documents that exist already are overwritten. */
async function copyState({ source, from, to, writer }: Sides, { signal, onProgress }: DigestOptions): Promise<void> {
  let pages = 0
  const firsts = (await to.partitions?.firsts()) ?? ONE_PARTITION
  for (const index of stateIndices) {
    let put: Rewrite['put'][number][] = []
    let done = 0
    const write = async (): Promise<void> => {
      if (put.length > 0) await writer.rewrite({ put, remove: [], unplace: [] })
      done += put.length
      put = []
      onProgress({ stage: index.name, done })
    }
    for await (const page of source.scan(index)) {
      signal.throwIfAborted()
      pages += 1
      if (pages % PAGES === 0) await keepReadable(source)
      for (const found of page) put.push({ index, doc: await placeDocument(firsts, { from, index, found }) })
      if (put.length >= DOCUMENTS_AT_ONCE) await write()
    }
    await write()
  }
}

/** The document for a store with these partitions. */
async function placeDocument(
  firsts: readonly number[],
  { from, index, found }: Pick<Sides, 'from'> & { readonly index: StateIndex; readonly found: StoredDocument },
): Promise<DocOf<StateIndex>> {
  const { id, doc } = found
  if (doc === undefined)
    throw new Failure('damaged', `${index.name}: ${id} cannot be read.`, {
      help: RUN_REPAIR,
      details: { index: index.name },
    })
  if (index !== lists) return doc as DocOf<StateIndex>
  const list = doc as ListDoc
  const momentsOf = (ordinals: readonly number[]) => from.read(view => view.moments(list, ordinals), { damaged: true })
  return { ...list, starts: await findListStarts(firsts, list, momentsOf) } as DocOf<StateIndex>
}

/**
 * Copies a store at one height into an empty one, of the same kind or another. The copy is closed to readers
 * and loaders until the digest of each index equals that of the source. After a kill at any moment, the next
 * run continues after the last whole batch of blocks, at the current height of the source. Throws 'usage'
 * when the other store has other data, 'damaged' with the index that differs.
 */
export async function copyStore(
  from: Store,
  to: Store,
  how: DigestOptions,
): Promise<{ readonly height: number; readonly documents: number }> {
  const identity = await from.identity()
  if (identity === undefined) throw nothingLoaded(from.name)
  const source = await from.audit()
  try {
    await to.create()
    const writer = await to.takeOver(identity, { repair: true })
    try {
      const sides = { from, source, to, writer }
      await begin(sides)
      const isOpen = !writer.unfinished
      if (!isOpen) {
        await copyHistory(sides, how)
        await copyState(sides, how)
        await writer.accept?.()
      }
      const digests = await requireCopied(sides, how)
      // The keys come before the store is opened: a run killed between the two would find a store in use, and refuse it.
      await copyKeys(from, to)
      if (!isOpen) {
        await writer.settle({ identity, end: source.at, open: true })
        await writer.accept?.()
      }
      return { height: source.at.height, documents: sumDocuments(digests) }
    } finally {
      await writer.release()
    }
  } finally {
    await source.close()
  }
}

/** Closes an empty store, or continues the work of an earlier run. Throws 'usage' for any other store. */
async function begin({ source, to, writer }: Sides): Promise<void> {
  const { checkpoint, unfinished } = writer
  if (checkpoint === undefined) await writer.shut()
  else {
    const [block] = await source.getMany(blocks, [blockId(checkpoint.height)])
    const isCopy = unfinished ? block?.hash === checkpoint.hash : checkpoint.hash === source.at.hash
    if (!isCopy)
      throw new Failure('usage', `${to.name} has blocks already, up to ${checkpoint.height}.`, {
        help: 'Copy into a store that does not exist yet.',
      })
  }
  // Discards the data that a killed run wrote after its last batch.
  if (checkpoint === undefined || unfinished) await writer.accept?.()
}

/** Returns the digests. Throws 'damaged', naming the index, unless both stores have the same ones. */
async function requireCopied({ from, to, source }: Sides, how: DigestOptions): Promise<readonly Digest[]> {
  const tell = (of: string): DigestOptions => ({
    signal: how.signal,
    onProgress: at => how.onProgress({ ...at, stage: `${at.stage} of the ${of}` }),
  })
  const expected = mergePartitionDigests(await computeDigests(from, source, tell('source')))
  const copy = await to.audit()
  try {
    const found = mergePartitionDigests(await computeDigests(to, copy, tell('copy')))
    requireSameDigests(to.name, found, expected)
    return found
  } finally {
    await copy.close()
  }
}
