import { toBaseTransaction } from '#chain/base-transaction.ts'
import {
  type Block,
  type ContractCode,
  LINKED,
  type LoadedBlock,
  type ProofLevel,
  type Transaction,
} from '#chain/block.ts'
import { checkBlock, lossyReceipts, PARENT_HASH, restoredReceipt } from '#chain/check.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { listUnknownContracts } from '#chain/effects.ts'
import { isSystemContract } from '#chain/names.ts'
import { Failure, unless } from '#failure/failure.ts'
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
function isProved(block: Block, { height, parentHash }: Expected): boolean {
  const lossy = lossyReceipts(block)
  const restored = lossy.flatMap(index => {
    const receipt = lossy.length === 1 ? restoredReceipt(block, index) : undefined
    return receipt === undefined ? [] : [[index, receipt] as const]
  })
  try {
    checkBlock(block, { parentHash, height }, { receipts: new Map(restored) })
    return true
  } catch (error) {
    if (lossy.length === 0) throw error
    checkBlock(block, { parentHash, height }, { receipts: 'later' })
    return false
  }
}

function rebuildTransactions(
  doc: BlockDoc,
  docs: readonly (TransactionDoc | undefined)[],
  bad: (reason: string) => Failure,
): readonly Transaction[] {
  const hashes = listBlockHashes(doc)
  const base = toBaseTransaction(doc)
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
  readonly node: Node | undefined
  /** The node's last irreversible block, if known. */
  readonly lib?: number | undefined
  /** Proof required of the node's block at a height; absent: the level for which the node was created. */
  readonly levelAt?: (height: number) => ProofLevel
  readonly sampled: (height: number) => boolean
  readonly signal: AbortSignal
  /** Called for a block whose receipts cannot be proved: they lost bytes, and there is no node to supply them. */
  readonly onUnproved?: (height: number) => void
}

/**
 * Stored blocks `from` … `to` in a node's form, in order and each checked, run by run. A wrong block is
 * replaced by the node's; without a node, 'bad_block' is thrown with the reason.
 */
export const storedBlocks = async function* (
  source: AuditSource,
  range: { readonly from: number; readonly to: number; readonly parent: string | undefined },
): AsyncGenerator<readonly LoadedBlock[]> {
  let { parent } = range
  for (let from = range.from; from <= range.to; from += RUN) {
    source.signal.throwIfAborted()
    const heights = Array.from({ length: Math.min(RUN, range.to - from + 1) }, (_, at) => from + at)
    const { rebuild } = await stored(source, heights)
    const run: LoadedBlock[] = []
    for (const height of heights) {
      const loaded = await readSourceBlock(source, { height, parent, isLast: height === range.to }, rebuild)
      parent = loaded.block.hash
      run.push(loaded)
    }
    yield run
  }
}

/** Every wrong stored block up to `to`, with the reason. Each is checked against the stored block before it. */
export const damagedBlocks = async function* (
  source: AuditSource,
  to: number,
): AsyncGenerator<{ readonly height: number; readonly reason: string }> {
  let previous: Awaited<ReturnType<typeof stored>>['docs'][number]
  for (let from = 0; from <= to; from += RUN) {
    source.signal.throwIfAborted()
    const heights = Array.from({ length: Math.min(RUN, to - from + 1) }, (_, at) => from + at)
    const { docs, rebuild } = await stored(source, heights)
    for (const [at, height] of heights.entries()) {
      try {
        rebuild(height, previous?.hash)
      } catch (error) {
        if (!(error instanceof Failure) || error.kind !== 'bad_block') throw error
        yield { height, reason: error.message }
      }
      previous = docs[at]
    }
  }
}

/**
 * The next block: its height, the expected parent hash (undefined: any), and whether it is the last one of the range.
 */
type Next = { readonly height: number; readonly parent: string | undefined; readonly isLast: boolean }

async function stored({ store, signal }: AuditSource, heights: readonly number[]) {
  const docs = await store.read(view => view.getMany(blocks, heights.map(blockId)), { signal, damaged: true })
  const ids = docs.map(doc => (doc === undefined ? [] : listTransactionIds(doc)))
  const all = ids.flat()
  const found = new Map<string, Awaited<ReturnType<typeof read>>[number]>()
  const read = (part: readonly string[]) =>
    store.read(view => view.getMany(transactions, part), { signal, damaged: true })
  for (let at = 0; at < all.length; at += TRANSACTIONS)
    for (const doc of await read(all.slice(at, at + TRANSACTIONS))) if (doc !== undefined) found.set(doc.id, doc)
  const first = heights[0] ?? 0
  const rebuild = (height: number, parentHash: string | undefined): RebuiltBlock => {
    const doc = docs[height - first]
    if (doc === undefined) throw new Failure('bad_block', `Block ${height} is missing.`)
    const own = (ids[height - first] ?? []).map(id => found.get(id))
    return rebuildBlock(doc, own, { height, parentHash })
  }
  return { docs, rebuild }
}

async function readSourceBlock(
  source: AuditSource,
  next: Next,
  rebuild: Awaited<ReturnType<typeof stored>>['rebuild'],
): Promise<LoadedBlock> {
  const { node } = source
  const { height, parent } = next
  if (node !== undefined && source.sampled(height)) return await nodeBlock(source, node, next)
  try {
    const { block, proved } = rebuild(height, parent)
    if (!proved && node !== undefined) return await nodeBlock(source, node, next)
    if (!proved) source.onUnproved?.(height)
    return { block, systemCode: await fetchSourceCode(source, block), proof: LINKED }
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'bad_block' || node === undefined) throw error
    return await nodeBlock(source, node, next)
  }
}

/** Proof of the node's own block failed, which says nothing about the stored one. */
export class BadNodeBlock extends Failure {}

async function nodeBlock(
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
    return await unless(
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
