import { Failure } from '#failure/failure.ts'
import { type ListDoc, lists } from '#indices/list.ts'
import { parsePosition } from '#indices/position.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import type { Audit, Store, StoredDocument } from '#store/port.ts'
import { canonicalText } from './canonical.ts'
import { keepReadable } from './keep-readable.ts'
import { DigestSum, type DocumentSum } from './sum.ts'

/** The digest of an index, or of one partition of a history index; the order of its documents does not matter. */
export type Digest = DocumentSum & {
  readonly index: string
  /** Number of the partition, in history indices. */
  readonly partition?: number
  /**
   * Sequence number of its last operation, on a server that counts operations: as long as it stays, the index
   * is unchanged.
   */
  readonly operation?: number
}

/**
 * Name of the digest of the list starts in partitions: the only part of a document that depends on how a
 * store is partitioned.
 */
export const STARTS = 'lists.starts'

/** Number of pages of an audit, of a thousand documents each, that take some minutes at most. */
const PAGES = 1_000

export type DigestOptions = {
  readonly signal: AbortSignal
  readonly onProgress: (at: { readonly stage: string; readonly done: number; readonly of?: number }) => void
}

/**
 * The digests of each index and partition in an audit. Reads every document once; memory use does not depend
 * on their number. Throws when `signal` aborts.
 */
export async function computeDigests(
  { partitions }: Pick<Store, 'partitions'>,
  audit: Audit,
  { signal, onProgress }: DigestOptions,
): Promise<readonly Digest[]> {
  const firsts = (await partitions?.firsts()) ?? [0]
  const counts = await readExpectedCounts(audit)
  const digests: Digest[] = []
  let pages = 0
  for (const index of [...historyIndices, ...stateIndices]) {
    const sums = new Sums(index, firsts)
    const of = counts.get(index)
    let done = 0
    for await (const page of readIndexPages(audit, index)) {
      signal.throwIfAborted()
      for (const found of page) sums.add(found)
      done += page.length
      pages += 1
      if (pages % PAGES === 0) await keepReadable(audit)
      onProgress({ stage: index.name, done, ...(of === undefined ? {} : { of }) })
    }
    digests.push(...sums.digests(audit.at.height))
  }
  return digests
}

/** All documents of an index. A failure of reading is thrown with the name of the index. */
const readIndexPages = async function* (audit: Audit, index: AnyIndex): AsyncGenerator<readonly StoredDocument[]> {
  try {
    yield* audit.scan(index)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { kind, message, help } = error
    const more = { cause: error, details: { index: index.name }, ...(help === undefined ? {} : { help }) }
    throw new Failure(kind, `${index.name}: ${message}`, more)
  }
}

/** The numbers of documents that follow from the chain, for the indices where they do. */
async function readExpectedCounts(audit: Audit): Promise<ReadonlyMap<AnyIndex, number>> {
  const [counted] = (await audit.getMany(statistics, [STATISTICS])) as readonly (StatisticsDoc | undefined)[]
  const [blocks, transactions, records] = historyIndices
  return new Map<AnyIndex, number>([
    [blocks, audit.at.height + 1],
    ...(counted === undefined
      ? []
      : ([
          [transactions, counted.transaction_count],
          [records, counted.record_count],
          [lists, counted.list_count],
        ] as const)),
  ])
}

/** The sums of one index, by partition. */
class Sums {
  private readonly byPartition = new Map<number, DigestSum>()
  private readonly starts = new DigestSum()
  private readonly stray = new DigestSum()
  private readonly index: AnyIndex
  private readonly firsts: readonly number[]

  constructor(index: AnyIndex, firsts: readonly number[]) {
    this.index = index
    this.firsts = firsts
  }

  add({ id, doc, stray }: StoredDocument): void {
    const { index } = this
    // A document that cannot be read has no text, but is counted.
    const text = doc === undefined ? `unreadable ${id}` : canonicalText(index, doc)
    const sum = stray === undefined ? this.sumAt(index.kind === 'state' ? 0 : this.partitionOf(id)) : this.stray
    sum.add(text)
    if (index === lists && doc !== undefined) this.starts.add(`${id} ${JSON.stringify((doc as ListDoc).starts)}`)
  }

  digests(height: number): readonly Digest[] {
    const { index, firsts } = this
    if (index.kind === 'state') {
      const starts = index === lists ? [{ index: STARTS, ...this.starts.result() }] : []
      return [{ index: index.name, ...this.sumAt(0).result() }, ...starts]
    }
    const outside = this.stray.result()
    return [
      ...firsts
        .filter((first, at) => at === 0 || first <= height)
        .map((_, partition) => ({ index: index.name, partition, ...this.sumAt(partition).result() })),
      ...(outside.documents === 0 ? [] : [{ index: `${index.name} in wrong partitions`, ...outside }]),
    ]
  }

  private sumAt(partition: number): DigestSum {
    const known = this.byPartition.get(partition)
    if (known !== undefined) return known
    const made = new DigestSum()
    this.byPartition.set(partition, made)
    return made
  }

  private partitionOf(id: string): number {
    const [height = 0] = parsePosition(id) ?? []
    return Math.max(
      0,
      this.firsts.findLastIndex(first => first <= height),
    )
  }
}
