import type { BlockDocuments } from '#derive/derive-block.ts'
import type { BlockDoc } from '#indices/block.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import { type BatchBounds, isFull, measureHistory, NOTHING_FILLED, sumOfSizes } from '#store/batch.ts'
import type { Filling, History, Published, Writer } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import type { Deriver } from './deriver.ts'
import type { Proving } from './proving.ts'

/** Resident memory in bytes above which garbage is collected sooner than the engine would: it lets a heap double. */
const COLLECT_ABOVE_BYTES = 200_000_000

/** Called with the number of documents made since the previous call. */
export type Collect = (documents: number) => void

/**
 * Keeps the memory of a long load flat, regardless of the memory that the engine assumes the machine has.
 * `growth`: bytes between two collections, each of which traverses all live objects.
 */
export function createCollector(
  { resident, collect } = { resident: () => process.memoryUsage.rss(), collect: () => Bun.gc(true) },
  growth = 40_000_000,
): Collect {
  let next = COLLECT_ABOVE_BYTES
  let made = 0
  return documents => {
    made += documents
    if (made < 1_000) return
    made = 0
    if (resident() < next) return
    collect()
    next = Math.max(COLLECT_ABOVE_BYTES, resident() + growth)
  }
}

/**
 * Maximum age of a batch, in milliseconds: a batch that fills slowly is committed at this age. Far from the
 * head, readers can wait a little longer. The first batch of a load is small there, so that anything that
 * keeps a store from taking blocks shows at once. Near the head it is not small, since a service would report
 * the contents of the next batch as missing. `behind`: number of blocks to the node's last irreversible one.
 */
function oldestMs(behind: number, isFirst: boolean): number {
  if (behind <= 1_000) return 2_000
  return isFirst ? 100 : 15_000
}

/** Numbers of documents. */
type Counts = Readonly<Record<'blocks' | 'transactions' | 'records', number>>

/** A batch in the store; `ms`: the duration of its commit. */
export type CommittedBatch = Counts & { readonly end: Published; readonly ms: number }

/**
 * Collects the documents of blocks into batches, and commits these in order; one batch is committed while the next one
 * is derived. `lib` is the node's last irreversible block. The failure of a commit is thrown by a later call.
 */
export type Batches = {
  /**
   * Adds a block. The commit of its batch begins when the batch is full or old, and where a partition ends, but not below
   * the writer's floor. Before that, history is appended part by part.
   */
  add(documents: BlockDocuments, lib: number): Promise<void>
  /** Commits the rest unless it ends below the writer's floor, and waits until everything is in the store. */
  end(lib: number): Promise<void>
  /** Waits for the appends and commits in progress. */
  settle(): Promise<void>
}

type Parts = {
  readonly writer: Pick<Writer, 'append' | 'commit' | 'floor'>
  readonly deriver: Pick<Deriver, 'changed' | 'cut'>
  readonly proof: Pick<Proving, 'cut'>
  readonly partitions: Partitioning
  readonly bounds: BatchBounds
  readonly clock: Pick<Clock, 'elapsed'>
  readonly collect: Collect
}

export function createBatches(parts: Parts, onCommitted: (batch: CommittedBatch) => void): Batches {
  const { writer, deriver, proof, partitions, bounds, clock, collect } = parts
  const [commits, appends] = [createSingleRun(), createSingleRun()]
  /** Settles when the store has all history of the batch cut last; later appends belong to the next batch. */
  let given: Promise<unknown> = Promise.resolve()
  let batch = batchBuilder(bounds)
  let [begun, isFirst] = [0, true]
  /** Hands the batch to the store, once the previous one is stored. */
  const close = async (lib: number): Promise<void> => {
    await commits.settle()
    isFirst = false
    const full = batch
    batch = batchBuilder(bounds)
    const last = full.end(lib)
    const rest = full.takePart(partitions.filling())
    const changes = deriver.cut()
    const end = proof.cut(last).then(async proved => {
      await writer.append(rest)
      return proved === undefined ? last : { ...last, proved }
    })
    given = end
    commits.begin(
      end.then(async end => {
        const since = clock.elapsed()
        await writer.commit({ end, changes })
        onCommitted({ ...full.counts, end, ms: Math.round(clock.elapsed() - since) })
      }),
    )
  }
  const settle = async (): Promise<void> => {
    // A failed part also fails its batch.
    await appends.settle().catch(() => undefined)
    await commits.settle()
  }
  return {
    add: async (documents, lib) => {
      if (batch.empty) begun = clock.elapsed()
      batch.add(documents)
      partitions.add(documents)
      collect(1 + documents.transactions.length + documents.records.length)
      // During a commit this batch would only wait: a busy machine would make batches small and costly.
      const isOld = commits.isIdle() && clock.elapsed() - begun > oldestMs(lib - documents.block.height, isFirst)
      const isDue = isOld || batch.full(deriver.changed()) || partitions.full()
      if (isDue && documents.block.height >= (writer.floor ?? 0)) return close(lib)
      if (!batch.partFull) return
      await appends.settle()
      const part = batch.takePart(partitions.filling())
      appends.begin(given.then(() => writer.append(part)))
    },
    end: async lib => {
      if (!batch.empty && batch.end(lib).height >= (writer.floor ?? 0)) await close(lib)
      await settle()
    },
    settle,
  }
}

/** Work of which one piece is in progress while the next is prepared. */
function createSingleRun() {
  let pending: Promise<void> | undefined
  let running = 0
  const end = (): void => {
    running -= 1
  }
  return {
    /** Whether no work is in progress; a failure is kept for `settle`. */
    isIdle: (): boolean => running === 0,
    /** Waits for the work in progress, if any; throws its failure, once. */
    settle: async (): Promise<void> => {
      const work = pending
      pending = undefined
      await work
    },
    begin: (work: Promise<void>): void => {
      pending = work
      running += 1
      // A failure before the next `settle` must not count as an unhandled rejection.
      work.then(end, end)
    },
  }
}

const NOTHING = { documents: 0, bytes: 0 }

/** Collects the history of consecutive blocks until the batch is full, to be appended part by part. */
export function batchBuilder(bounds: BatchBounds) {
  const none = (): { blocks: BlockDoc[]; transactions: TransactionDoc[]; records: RecordDoc[] } => ({
    blocks: [],
    transactions: [],
    records: [],
  })
  let part = none()
  let ofPart = NOTHING
  let all = NOTHING
  const counts = { blocks: 0, transactions: 0, records: 0 }
  let last: BlockDoc | undefined
  return {
    add: ({ block, transactions, records }: BlockDocuments): void => {
      last = block
      part.blocks.push(block)
      for (const transaction of transactions) part.transactions.push(transaction)
      for (const record of records) part.records.push(record)
      counts.blocks += 1
      counts.transactions += transactions.length
      counts.records += records.length
      const size = measureHistory({ blocks: [block], transactions, records })
      ofPart = sumOfSizes(ofPart, size)
      all = sumOfSizes(all, size)
    },
    get empty(): boolean {
      return last === undefined
    },
    /** `changes`: number of state documents that the batch has changed so far. */
    full: (changes: number): boolean => isFull(all, bounds) || changes >= (bounds.changes ?? Number.POSITIVE_INFINITY),
    /** Number of documents of the batch, including those of parts already taken. */
    counts: counts as Counts,
    /** Whether the collected history is enough for one part. */
    get partFull(): boolean {
      return bounds.chunk !== undefined && isFull(ofPart, bounds.chunk)
    },
    /** Returns the collected history and clears it. */
    takePart: (filling: Filling): History => {
      const taken = part
      part = none()
      ofPart = NOTHING
      return { ...taken, filling }
    },
    /** The last block of the batch; `lib` is the node's last irreversible block. */
    end: (lib: number): Published => {
      if (last === undefined) throw new RangeError('A batch has at least one block.')
      return { height: last.height, hash: last.hash, time: last.time, lib }
    },
  }
}

/**
 * Assigns a partition to each new block's history, ahead of the commits. The assignment depends only on the
 * content of blocks, never on their batches: the document of a list names the partitions of its rows, and
 * must not depend on batches.
 */
export type Partitioning = {
  /** Partition for the history of the next block. */
  next(): number
  add(documents: BlockDocuments): void
  /** Whether the partition of the last block is full, so that its batch ends here. */
  full(): boolean
  filling(): Filling
}

/** `partitions` of the writer; absent: all history goes to partition 0. */
export function createPartitioning(partitions: Writer['partitions']): Partitioning {
  const most = partitions?.documents ?? Number.POSITIVE_INFINITY
  let filling = partitions?.filling ?? NOTHING_FILLED
  const full = () => filling.documents >= most
  const next = () => (full() ? filling.partition + 1 : filling.partition)
  return {
    next,
    add: ({ transactions, records }) => {
      const before = full() ? 0 : filling.documents
      filling = { partition: next(), documents: before + 1 + transactions.length + records.length }
    },
    full,
    filling: () => filling,
  }
}
