import { type BlockDoc, blocks, listBlockHashes, listTransactionIds } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { transactions } from '#indices/transaction.ts'
import type { Published, Store } from '#store/port.ts'

/** Blocks per request. */
const RUN = 200
/** Transactions per request. */
const TRANSACTIONS = 500
/** Number of runs that are read without `all`, the first and the last among them. */
const RUNS = 25
/** Limit of the problems reported: nobody reads more. */
const MAX_PROBLEMS = 20

export type Continuity = {
  /** Number of blocks checked. */
  readonly blocks: number
  readonly transactions: number
  /** The problems found, at most 20; empty when there are none. */
  readonly problems: readonly string[]
}

/**
 * Checks that the stored blocks follow each other without a gap and have their transactions: each block's
 * height, its parent's hash, its transactions by hash, and the published hash at the end. With `all` it
 * checks every block, otherwise runs of 200 spread evenly, the first and the last among them. Stored history
 * never changes, so a loader may run at the same time.
 */
export async function continuity(
  store: Pick<Store, 'read'>,
  options: {
    readonly published: Published
    readonly all: boolean
    readonly signal: AbortSignal
    readonly onProgress?: (looked: { readonly blocks: number; readonly of: number }) => void
  },
): Promise<Continuity> {
  const { published, all, signal, onProgress } = options
  const problems: string[] = []
  const looked = { blocks: 0, transactions: 0 }
  const runs = splitHeights(published.height, all)
  const of = runs.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  let previous: BlockDoc | undefined
  for (const { from, to } of runs) {
    if (problems.length >= MAX_PROBLEMS) break
    signal.throwIfAborted()
    const ids = Array.from({ length: to - from + 1 }, (_, at) => blockId(from + at))
    const docs = await store.read(view => view.getMany(blocks, ids), { signal, damaged: true })
    for (const [at, doc] of docs.entries()) {
      const height = from + at
      const expected = {
        height,
        parent: previous?.height === height - 1 ? previous.hash : undefined,
        hash: height === published.height ? published.hash : undefined,
      }
      const problem = findBlockProblem(doc, expected)
      if (problem !== undefined) problems.push(problem)
      previous = doc
    }
    const stored = docs.flatMap((doc, at) => (doc === undefined ? [] : [{ height: from + at, doc }]))
    const found = await lookAtTransactions(store, stored, signal)
    problems.push(...found.problems)
    looked.transactions += found.count
    looked.blocks += docs.length
    onProgress?.({ blocks: looked.blocks, of })
  }
  return { ...looked, problems: problems.slice(0, MAX_PROBLEMS) }
}

type Run = { readonly from: number; readonly to: number }

/** Disjoint ranges of heights within 0 … `height`, ascending. */
export function splitHeights(height: number, all: boolean): readonly Run[] {
  const count = Math.ceil((height + 1) / RUN)
  const chosen = new Set<number>()
  if (all || count <= RUNS) for (let run = 0; run < count; run++) chosen.add(run)
  else for (let at = 0; at < RUNS; at++) chosen.add(Math.round((at * (count - 1)) / (RUNS - 1)))
  return [...chosen].map(run => ({ from: run * RUN, to: Math.min(height, run * RUN + RUN - 1) }))
}

/** `parent`, `hash`: the hashes of the parent block and of this one that other documents give; undefined: none do. */
function findBlockProblem(
  doc: BlockDoc | undefined,
  {
    height,
    parent,
    hash,
  }: { readonly height: number; readonly parent: string | undefined; readonly hash: string | undefined },
): string | undefined {
  if (doc === undefined) return `block ${height} is missing`
  if (doc.height !== height) return `block ${height} is stored as block ${doc.height}`
  if (parent !== undefined && doc.parent_hash !== parent)
    return `block ${height} has the parent hash ${doc.parent_hash}, but block ${height - 1} has the hash ${parent}`
  if (hash !== undefined && doc.hash !== hash)
    return `block ${height} has the hash ${doc.hash}, but ${hash} is published`
  const hashes = listBlockHashes(doc).length
  return hashes === doc.tx_count ? undefined : `block ${height} has ${hashes} of ${doc.tx_count} transaction hashes`
}

async function lookAtTransactions(
  store: Pick<Store, 'read'>,
  stored: readonly { readonly height: number; readonly doc: BlockDoc }[],
  signal: AbortSignal,
): Promise<{ readonly count: number; readonly problems: readonly string[] }> {
  const expected = stored.flatMap(({ height, doc }) => {
    const hashes = listBlockHashes(doc)
    const ids = listTransactionIds({ ...doc, height })
    return ids.map((id, at) => ({ id, hash: hashes[at + hashes.length - ids.length] }))
  })
  const problems: string[] = []
  for (let at = 0; at < expected.length; at += TRANSACTIONS) {
    const part = expected.slice(at, at + TRANSACTIONS)
    const ids = part.map(({ id }) => id)
    const found = await store.read(view => view.getMany(transactions, ids), { signal, damaged: true })
    for (const [index, { id, hash }] of part.entries()) {
      const doc = found[index]
      if (doc === undefined) problems.push(`transaction ${id} (${hash}) is missing`)
      else if (doc.hash !== hash)
        problems.push(`transaction ${id} has the hash ${doc.hash}, but its block names ${hash}`)
    }
  }
  return { count: expected.length, problems }
}
