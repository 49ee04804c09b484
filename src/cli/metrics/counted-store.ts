import { Failure } from '#failure/failure.ts'
import type { Batch, ReadEnd, Store, Writer } from '#store/port.ts'
import type { MetricCounts } from './catalogue.ts'

/** Runs work and counts it under the name of the call. */
type Timed = <T>(call: string, work: () => Promise<T>) => Promise<T>

/** A committed batch. */
export type CountedBatch = Pending & { readonly height: number; readonly ms: number }

/**
 * A wrapper of a store that counts calls and writes. Reads are counted by `readNote`. `onBatch` is called
 * after each batch.
 */
export function countedStore<S extends Store>(
  store: S,
  counts: MetricCounts,
  onBatch: (batch: CountedBatch) => void = () => undefined,
): S {
  const timed = createTimer(counts)
  return {
    ...store,
    published: () => timed('published', store.published),
    identity: () => timed('identity', store.identity),
    hold: options => timed('hold', () => store.hold(options)),
    takeOver: async (identity, options) =>
      countedWriter(await timed('takeOver', () => store.takeOver(identity, options)), counts, onBatch),
  }
}

/** Counts finished reads of the store. */
export const readNote =
  (counts: MetricCounts) =>
  ({ since, error, retries = 0 }: ReadEnd): void => {
    if (retries > 0) counts.storeRetries.add(retries, 'read')
    noteCall(counts, { call: 'read', since, outcome: error === undefined ? 'ok' : classifyError(error) })
  }

/** Counts lookups in the cache of state documents. */
export const cacheNote =
  ({ cacheReads }: MetricCounts) =>
  (isHit: boolean): void =>
    cacheReads.add(1, 'state', isHit ? 'hit' : 'miss')

const createTimer =
  (counts: MetricCounts): Timed =>
  async (call, work) => {
    const since = performance.now()
    let outcome = 'ok'
    try {
      return await work()
    } catch (error) {
      outcome = classifyError(error)
      throw error
    } finally {
      noteCall(counts, { call, since, outcome })
    }
  }

function noteCall(
  { storeCalls, storeSeconds }: MetricCounts,
  { call, since, outcome }: { readonly call: string; readonly since: number; readonly outcome: string },
): void {
  storeCalls.add(1, call, outcome)
  storeSeconds.observe((performance.now() - since) / 1_000, call)
}

/** A request that the caller made wrongly or gave up is no failure of the store. */
const classifyError = (error: unknown): string =>
  error instanceof Failure && FAILED.has(error.kind) ? 'failed' : 'cancelled'

/** The kinds of failure that the store causes; a read may throw others. */
const FAILED: ReadonlySet<string> = new Set(['unavailable', 'damaged', 'conflict', 'defect', 'usage'])

type Pending = { blocks: number; transactions: number; records: number }
const nothing = (): Pending => ({ blocks: 0, transactions: 0, records: 0 })

/** Wraps a writer by a proxy, since members such as `checkpoint` change. */
function countedWriter(writer: Writer, counts: MetricCounts, onBatch: (batch: CountedBatch) => void): Writer {
  const { loadSeconds, loadedBlocks, loadedRows, loadedBatches } = counts
  let pending = nothing()
  const timed = createTimer(counts)
  /** Counts a call, and adds its time to that of the stage. */
  const staged: Timed = async (stage, work) => {
    const since = performance.now()
    try {
      return await timed(stage, work)
    } finally {
      loadSeconds.add((performance.now() - since) / 1_000, stage)
    }
  }
  const note = ({ blocks, transactions, records }: Pick<Batch, 'blocks' | 'transactions' | 'records'>): void => {
    pending.blocks += blocks.length
    pending.transactions += transactions.length
    pending.records += records.length
  }
  const counted: Partial<Writer> = {
    openState: () => staged('state', () => writer.openState()),
    transactionsOf: hashes => staged('state', () => writer.transactionsOf(hashes)),
    append: history => {
      note(history)
      return staged('append', () => writer.append(history))
    },
    commit: async end => {
      // Rows appended from here on belong to the next batch.
      const committed = pending
      pending = nothing()
      const since = performance.now()
      await staged('commit', () => writer.commit(end))
      loadedBlocks.add(committed.blocks)
      loadedRows.add(committed.transactions, 'transaction')
      loadedRows.add(committed.records, 'record')
      loadedBatches.add(1)
      onBatch({ ...committed, height: end.end.height, ms: Math.round(performance.now() - since) })
    },
  }
  return new Proxy(writer, { get: (target, name: keyof Writer) => counted[name] ?? target[name] })
}
