import { unpackBaseTransaction } from '#chain/base-transaction.ts'
import {
  type Block,
  type ContractCode,
  LINKED,
  type LoadedBlock,
  type ProofLevel,
  type Transaction,
} from '#chain/block.ts'
import { checkAlone, checkBlock, lossyReceipts, PARENT_HASH } from '#chain/check.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { listUnknownContracts } from '#chain/effects.ts'
import { isSystemContract } from '#chain/names.ts'
import { catchKinds, Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks, listBlockHashes, listTransactionIds } from '#indices/block.ts'
import { contracts } from '#indices/contract.ts'
import { blockId } from '#indices/list.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import { requireChain } from '#node/pool.ts'
import type { Node } from '#node/port.ts'
import type { Identity, Published, Store } from '#store/port.ts'

export type RebuiltBlock = {
  readonly block: Block
  /** False: all is proved except the receipts, some of which lost bytes that cannot be recovered from stored data. */
  readonly proved: boolean
}

type Expected = { readonly height: number; readonly parentHash: string | undefined }

/**
 * Rebuilds a block from its stored documents and checks it like one from a node: its parent, its number of
 * transactions, the merkle roots of their hashes and receipts, its own hash. `docs` are in the order of
 * `listTransactionIds`. A receipt that is stored with lost bytes was proved by its raw form when it was loaded;
 * the raw form is not stored. When the root does not determine the lost bytes, the receipts of that block are
 * not proved again. Throws Failure 'bad_block' with the reason.
 */
export function rebuildBlock(
  doc: BlockDoc,
  docs: readonly (TransactionDoc | undefined)[],
  expected: Expected,
): RebuiltBlock {
  const bad = (reason: string): Failure => new Failure('bad_block', `Block ${expected.height}: ${reason}.`)
  try {
    const transactions = rebuildTransactions(doc, docs, bad)
    const block: Block = {
      height: doc.height,
      hash: doc.hash,
      parentHash: doc.parent_hash,
      version: doc.version,
      txMerkleHash: doc.tx_merkle_hash,
      txReceiptMerkleHash: doc.tx_receipt_merkle_hash,
      witness: doc.witness,
      time: doc.time,
      txCount: doc.tx_count,
      info: doc.info,
      origInfo: doc.orig_info,
      transactions,
    }
    return { block, proved: isProved(block, expected) }
  } catch (error) {
    if (error instanceof Failure && error.kind === 'bad_block') throw error
    throw bad(`its stored document cannot be read: ${String(error)}`)
  }
}

/** Whether the receipts are proved too. Throws Failure 'bad_block' for faults that lost bytes do not explain. */
function isProved(block: Block, expected: Expected): boolean {
  try {
    checkAlone(block, expected)
    return true
  } catch (error) {
    if (lossyReceipts(block).length === 0) throw error
    checkBlock(block, expected, { receipts: 'later' })
    return false
  }
}

function rebuildTransactions(
  doc: BlockDoc,
  docs: readonly (TransactionDoc | undefined)[],
  bad: (reason: string) => Failure,
): readonly Transaction[] {
  const hashes = listBlockHashes(doc)
  const base = unpackBaseTransaction(doc)
  const own = base === undefined ? [] : [decodeTransaction(base)]
  const others = docs.map((each, at) => {
    if (each === undefined) throw bad(`transaction ${at + own.length} is missing`)
    return decodeTransaction(each.body)
  })
  const transactions = [...own, ...others]
  for (const [at, { hash }] of transactions.entries())
    if (hash !== hashes[at]) throw bad(`transaction ${at} has the hash ${hash}, expected ${hashes[at]}`)
  return transactions
}

/**
 * Returns the node's last irreversible block. Throws 'conflict' when the node is of another chain than the
 * stored one, 'unavailable' when it is behind the published height.
 */
export async function requireSameChain(
  node: Node,
  { identity, published }: { readonly identity: Identity; readonly published: Published },
  signal: AbortSignal,
): Promise<number> {
  const { libBlock } = await requireChain(node, identity, signal)
  if (libBlock < published.height)
    throw new Failure(
      'unavailable',
      `The node's last irreversible block ${libBlock} is below the published height ${published.height}.`,
      {
        help: `Wait until the node has it, or set another node. Should the published height be wrong, run: 'iostlens repair --node ${node.name}'.`,
      },
    )
  return libBlock
}

/** Blocks per read. */
const RUN = 100
/** Transactions per read. */
const TRANSACTIONS = 500

export type AuditSource = {
  /** Without `audit`, the store is of another version, and is read as far as this version can. */
  readonly store: Pick<Store, 'read'> & Partial<Pick<Store, 'audit'>>
  /** Supplies a block when the stored one is wrong or `sampled` is true for it. */
  readonly node?: Node | undefined
  /** The node's last irreversible block, if known. */
  readonly lib?: number | undefined
  /** Proof required of the node's block at a height; absent: the level for which the node was created. */
  readonly levelAt?: (height: number) => ProofLevel
  readonly sampled?: (height: number) => boolean
  readonly signal: AbortSignal
  /** Called for a block whose receipts cannot be proved: they lost bytes, and there is no node to supply them. */
  readonly onUnproved?: (height: number) => void
}

/**
 * Stored blocks `from` … `to` in a node's form, in order and each checked. A wrong block is replaced by the node's;
 * without a node, 'bad_block' is thrown with the reason.
 */
export const streamStoredBlocks = async function* (
  source: AuditSource,
  range: { readonly from: number; readonly to: number; readonly parent: string | undefined },
): AsyncGenerator<LoadedBlock> {
  let { parent } = range
  for await (const run of readRuns(source, range))
    for (const stored of run) {
      const { height } = stored
      const loaded = await readSourceBlock(source, { height, parent, isLast: height === range.to }, stored)
      parent = loaded.block.hash
      yield loaded
    }
}

/** Every wrong stored block up to `to`, with the reason. Each is checked against the stored block before it. */
export const streamDamagedBlocks = async function* (
  source: AuditSource,
  to: number,
): AsyncGenerator<{ readonly height: number; readonly reason: string }> {
  let parent: string | undefined
  for await (const run of readRuns(source, { from: 0, to }))
    for (const stored of run) {
      try {
        rebuild(stored, parent)
      } catch (error) {
        if (!(error instanceof Failure) || error.kind !== 'bad_block') throw error
        yield { height: stored.height, reason: error.message }
      }
      parent = stored.doc?.hash
    }
}

/** A block as it is stored, without its base transaction; `doc` undefined: there is none. */
type StoredBlock = {
  readonly height: number
  readonly doc: BlockDoc | undefined
  readonly transactions: readonly { readonly id: string; readonly doc: TransactionDoc | undefined }[]
}

const readRuns = async function* (
  { store, signal }: AuditSource,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<readonly StoredBlock[]> {
  for (let at = from; at <= to; at += RUN) {
    signal.throwIfAborted()
    yield await readStoredBlocks(store, { from: at, to: Math.min(to, at + RUN - 1) }, signal)
  }
}

/** Stored blocks `from` … `to`, in order, as far as they can be read. */
async function readStoredBlocks(
  store: Pick<Store, 'read'>,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<readonly StoredBlock[]> {
  const how = { signal, damaged: true } as const
  const heights = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const docs = await store.read(view => view.getMany(blocks, heights.map(blockId)), how)
  const ids = docs.map((doc, at) => (doc === undefined ? [] : listTransactionIds({ ...doc, height: from + at })))
  const all = ids.flat()
  const found: (TransactionDoc | undefined)[] = []
  for (let at = 0; at < all.length; at += TRANSACTIONS) {
    const part = all.slice(at, at + TRANSACTIONS)
    found.push(...(await store.read(view => view.getMany(transactions, part), how)))
  }
  let next = 0
  return heights.map((height, at) => ({
    height,
    doc: docs[at],
    transactions: (ids[at] ?? []).map(id => ({ id, doc: found[next++] })),
  }))
}

function rebuild({ height, doc, transactions: own }: StoredBlock, parentHash: string | undefined): RebuiltBlock {
  if (doc === undefined) throw new Failure('bad_block', `Block ${height} is missing.`)
  return rebuildBlock(
    doc,
    own.map(each => each.doc),
    { height, parentHash },
  )
}

/**
 * The next block: its height, the expected parent hash (undefined: any), and whether it is the last one of the range.
 */
type Next = { readonly height: number; readonly parent: string | undefined; readonly isLast: boolean }

async function readSourceBlock(source: AuditSource, next: Next, stored: StoredBlock): Promise<LoadedBlock> {
  const { node } = source
  const { height, parent } = next
  if (node !== undefined && source.sampled?.(height)) return await fetchNodeBlock(source, node, next)
  try {
    const { block, proved } = rebuild(stored, parent)
    if (!proved && node !== undefined) return await fetchNodeBlock(source, node, next)
    if (!proved) source.onUnproved?.(height)
    return { block, systemCode: await fetchSourceCode(source, block), proof: LINKED }
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'bad_block' || node === undefined) throw error
    return await fetchNodeBlock(source, node, next)
  }
}

/** Proof of the node's own block failed, which says nothing about the stored one. */
export class BadNodeBlock extends Failure {}

async function fetchNodeBlock(
  { signal, lib, levelAt }: AuditSource,
  node: Node,
  { height, parent, isLast }: Next,
): Promise<LoadedBlock> {
  const range = {
    from: height,
    to: height,
    signal,
    parent,
    // Other blocks are confirmed by the parent hash in the stored block after them.
    lib: isLast ? lib : undefined,
    prove: levelAt?.(height),
  }
  try {
    for await (const loaded of node.blocks(range)) return loaded
  } catch (error) {
    // A block with another parent shows that the stored blocks are of another branch.
    if (!(error instanceof Failure) || error.kind !== 'bad_block' || error.details['rule'] === PARENT_HASH) throw error
    const { message, help, details } = error
    throw new BadNodeBlock('bad_block', message, { cause: error, details, help })
  }
  throw new Failure('unavailable', `The node ${node.name} did not return block ${height}.`)
}

/**
 * The code of the contracts whose ABIs are not in the chain. It comes from the node; without a node, the
 * stored ABIs are trusted.
 */
async function fetchSourceCode(source: AuditSource, block: Block): Promise<readonly ContractCode[]> {
  const { node, signal } = source
  const code: ContractCode[] = []
  for (const id of listUnknownContracts(block)) {
    if (node !== undefined) {
      const given = await node.contractCode(id, signal)
      if (given !== undefined) code.push(given)
      continue
    }
    const doc = await readContract(source, id)
    if (doc === undefined && !isSystemContract(id)) continue
    if (doc === undefined)
      throw new Failure('bad_block', `Block ${block.height}: the ABI of its contract ${id} is not stored.`)
    code.push({ id, language: doc.language, version: doc.version, abis: doc.abis })
  }
  return code
}

/** Reads the contract without the checks of a serving reader, which would wait for data of another version. */
async function readContract({ store, signal }: AuditSource, id: string) {
  if (store.audit === undefined)
    // A document that cannot be read counts as missing.
    return await catchKinds(
      ['damaged'],
      store.read(view => view.get(contracts, id), { signal, damaged: true }),
    )
  const stored = await store.audit()
  try {
    return (await stored.getMany(contracts, [id]))[0]
  } finally {
    await stored.close()
  }
}

/** Blocks per read of `checkContinuity`. */
const CHECKED_RUN = 200
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

type CheckOptions = {
  readonly published: Published
  readonly all: boolean
  readonly signal: AbortSignal
  readonly onProgress?: (looked: { readonly blocks: number; readonly of: number }) => void
}

/**
 * Checks that the stored blocks follow each other without a gap and have their transactions: each block's
 * height, its parent's hash, its transactions by hash, and the published hash at the end. With `all` it
 * checks every block, otherwise runs of 200 spread evenly, the first and the last among them. Stored history
 * never changes, so a loader may run at the same time.
 */
export async function checkContinuity(
  store: Pick<Store, 'read'>,
  { published, all, signal, onProgress }: CheckOptions,
): Promise<Continuity> {
  const problems: string[] = []
  const looked = { blocks: 0, transactions: 0 }
  const runs = splitHeights(published.height, all)
  const of = runs.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  let previous: BlockDoc | undefined
  for (const run of runs) {
    if (problems.length >= MAX_PROBLEMS) break
    signal.throwIfAborted()
    const stored = await readStoredBlocks(store, run, signal)
    for (const { height, doc } of stored) {
      const expected = {
        height,
        parent: previous?.height === height - 1 ? previous.hash : undefined,
        hash: height === published.height ? published.hash : undefined,
      }
      const problem = findBlockProblem(doc, expected)
      if (problem !== undefined) problems.push(problem)
      previous = doc
    }
    problems.push(...stored.flatMap(findTransactionProblems))
    looked.transactions += stored.reduce((sum, { transactions }) => sum + transactions.length, 0)
    looked.blocks += stored.length
    onProgress?.({ blocks: looked.blocks, of })
  }
  return { ...looked, problems: problems.slice(0, MAX_PROBLEMS) }
}

type Run = { readonly from: number; readonly to: number }

/** Disjoint ranges of heights within 0 … `height`, ascending. */
export function splitHeights(height: number, all: boolean): readonly Run[] {
  const count = Math.ceil((height + 1) / CHECKED_RUN)
  const chosen = new Set<number>()
  if (all || count <= RUNS) for (let run = 0; run < count; run++) chosen.add(run)
  else for (let at = 0; at < RUNS; at++) chosen.add(Math.round((at * (count - 1)) / (RUNS - 1)))
  return [...chosen].map(run => ({
    from: run * CHECKED_RUN,
    to: Math.min(height, run * CHECKED_RUN + CHECKED_RUN - 1),
  }))
}

/** `parent`, `hash`: the hashes of the parent block and of this one that other documents give; undefined: none do. */
function findBlockProblem(
  doc: BlockDoc | undefined,
  { height, parent, hash }: Record<'parent' | 'hash', string | undefined> & { readonly height: number },
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

function findTransactionProblems({ doc, transactions }: StoredBlock): readonly string[] {
  const hashes = doc === undefined ? [] : listBlockHashes(doc).slice(-transactions.length)
  return transactions.flatMap(({ id, doc: found }, at) => {
    if (found === undefined) return [`transaction ${id} (${hashes[at]}) is missing`]
    if (found.hash === hashes[at]) return []
    return [`transaction ${id} has the hash ${found.hash}, but its block names ${hashes[at]}`]
  })
}
