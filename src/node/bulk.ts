import { type BaseDifference, buildBaseTransaction, findDifference, isBase } from '#chain/base-transaction.ts'
import { encodeBase58 } from '#chain/base58.ts'
import type { Block, ProofLevel } from '#chain/block.ts'
import { IN_GENESIS, IN_TRANSACTION } from '#chain/bounds.ts'
import { checkContents } from '#chain/check.ts'
import { type BlockTransactions, decodeBlockTransactions } from '#chain/decode.ts'
import { decodeBodiedTransaction } from '#chain/decode-transaction.ts'
import { changesProducers } from '#chain/effects.ts'
import { decodeOrigInfo, decodeRawHeads, headHash, headHashBytes, type RawHead, signatureFault } from '#chain/head.ts'
import { Failure } from '#failure/failure.ts'

/** Heights of blocks, both inclusive. */
export type HeightRange = { readonly from: number; readonly to: number }

/** The part of one block in a bulk answer: head and block, one of them, or neither. */
export type BulkPart = { readonly head?: RawHead; readonly block?: Block }

/** The node's unparsed answers to both bulk calls for a range of blocks. */
export type BulkAnswers = HeightRange & { readonly prove: ProofLevel; readonly heads: string; readonly lists: string }

/** Help text for a node that does not return signatures. */
export const SIGNED_HELP =
  'Use a node that returns signatures. (--prove linked checks only the hashes and needs no signatures.)'

/** The Failure of a block that cannot be true. */
export const bad = (height: number, reason: string, help?: string): Failure =>
  new Failure('bad_block', `Block ${height}: ${reason}.`, { details: { height }, help })

/** Throws Failure 'bad_block' unless the heads fill the range and, above `linked`, the last is signed. */
export function requireHeads(heads: readonly RawHead[], { from, to }: HeightRange, prove: ProofLevel): void {
  for (const [at, head] of heads.entries())
    if (head.height !== from + at) throw bad(from + at, `the node returned the head of block ${head.height} instead`)
  if (heads.length !== to - from + 1)
    throw bad(
      from + heads.length,
      'the node does not return its head, which only --prove linked can do without',
      SIGNED_HELP,
    )
  const last = heads.at(-1)
  if (prove !== 'linked' && last !== undefined) requireSigned(last)
}

/**
 * The witness whose valid signature a head carries; undefined for genesis, which is unsigned. Throws Failure
 * 'bad_block'.
 */
export function requireSigned(head: RawHead): string | undefined {
  if (head.height === 0) return undefined
  const fault = signatureFault(headHashBytes(head), head)
  if (fault !== undefined) throw bad(head.height, `${fault}; only --prove linked accepts it without`, SIGNED_HELP)
  return head.witness
}

/**
 * Parses bulk answers into parts, one per block; each block is checked on its own. Its head is kept only
 * where it is needed: for the last block, for blocks that are not whole, and for blocks that change
 * producers. Throws Failure 'bad_block'.
 */
export function parseBulkParts({ from, to, prove, heads: text, lists }: BulkAnswers): readonly BulkPart[] {
  const heads = decodeRawHeads(text)
  requireHeads(heads, { from, to }, prove)
  const blocks = assembleBlocks(heads, decodeBlockTransactions(lists))
  return heads.map((head, at) => {
    const block = blocks[at]
    if (block === undefined) return { head }
    return at === heads.length - 1 || changesProducers(block) ? { head, block } : { block }
  })
}

function isWhole(block: Block, head: RawHead): boolean {
  try {
    checkContents(block, { head })
    return true
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}

/**
 * Blocks assembled from raw heads and the bulk answer for their transactions. undefined for a block that is
 * not whole, since nodes leave out transactions without actions; it must be fetched singly.
 */
export function assembleBlocks(
  heads: readonly RawHead[],
  lists: readonly BlockTransactions[],
): readonly (Block | undefined)[] {
  const listAt = new Map(lists.map(list => [list.height, list]))
  return heads.map(head => {
    const list = listAt.get(head.height)
    if (list?.status === 'PENDING') return undefined
    // The block made of a raw head and its transactions. `info` has the value that nodes with bulk calls
    // return for every block (null in go-iost since 2020), so the block equals that of getBlockByNumber.
    const transactions = list?.transactions ?? []
    const block = {
      height: head.height,
      hash: headHash(head),
      parentHash: encodeBase58(head.parentHash),
      version: String(head.version),
      txMerkleHash: encodeBase58(head.txMerkleHash),
      txReceiptMerkleHash: encodeBase58(head.txReceiptMerkleHash),
      witness: head.witness,
      time: head.time,
      txCount: transactions.length,
      info: '{}',
      origInfo: decodeOrigInfo(head.info),
      transactions,
    }
    return isWhole(block, head) ? block : undefined
  })
}

/**
 * Parts of blocks in the form that threads exchange. Texts cost next to nothing to transfer, while objects
 * would be copied one by one.
 */
export type BlockMessage = {
  /** JSON list of `Fields`; null where the block is missing. */
  readonly blocks: string
  /** JSON list of the other transactions of all blocks. */
  readonly bodies: string
  /** Heads by position of their block. */
  readonly heads: readonly (readonly [at: number, head: RawHead])[]
}

/** All fields of a block except its transactions. */
type Fields = Omit<Block, 'time' | 'transactions'> & {
  readonly time: string
  /** The base transaction if it follows the template: nearly always, and mostly it is the only one. */
  readonly base?: readonly [hash: string, difference: BaseDifference]
  /** Lengths of the texts of the other transactions. */
  readonly lengths: readonly number[]
}

/** The fields of a block, and the texts of its other transactions. */
function splitBlock(block: Block): { readonly fields: Fields; readonly bodies: readonly string[] } {
  const { transactions, time, ...rest } = block
  const [first] = transactions
  const difference = first && isBase(block, 0) ? findDifference(first, time) : undefined
  const base = first && difference && ([first.hash, difference] as const)
  const bodies = transactions.slice(base === undefined ? 0 : 1).map(({ body }) => body)
  const lengths = bodies.map(({ length }) => length)
  return { fields: { ...rest, time: String(time), ...(base && { base }), lengths }, bodies }
}

/** Packs the parts that a thread has made of bulk answers. */
export function packBlocks(parts: readonly BulkPart[]): BlockMessage {
  const split = parts.map(({ block }) => block && splitBlock(block))
  return {
    blocks: JSON.stringify(split.map(each => each?.fields ?? null)),
    bodies: `[${split.flatMap(each => each?.bodies ?? []).join(',')}]`,
    heads: parts.flatMap(({ head }, at) => (head === undefined ? [] : [[at, head] as const])),
  }
}

/** The inverse of `packBlocks`. Transactions are read from their own texts, which the other thread has proved. */
export function unpackBlocks({ blocks, bodies, heads }: BlockMessage): readonly BulkPart[] {
  const headAt = new Map(heads)
  const values = JSON.parse(bodies) as readonly unknown[]
  let next = 0
  // Just after the opening bracket.
  let from = 1
  return (JSON.parse(blocks) as readonly (Fields | null)[]).map((fields, at) => {
    const head = headAt.get(at)
    const also = head === undefined ? {} : { head }
    if (fields === null) return also
    const { lengths, base, time: written, ...rest } = fields
    const time = BigInt(written)
    const data = rest.height === 0 ? IN_GENESIS : IN_TRANSACTION
    const [hash = '', difference] = base ?? []
    const first = difference === undefined ? [] : [buildBaseTransaction(difference, { hash, time })]
    const others = lengths.map((length, key) => {
      const body = bodies.slice(from, from + length)
      from += length + 1
      const value = values[next]
      next += 1
      return decodeBodiedTransaction({ value, body }, { key: first.length + key }, data)
    })
    return { ...also, block: { ...rest, time, transactions: [...first, ...others] } }
  })
}

/** A message to a thread: the answers of one range. */
export type ProveRequest = { readonly id: number; readonly answers: BulkAnswers }

/** The reply; without `parts`, the answers contain a fault, or the thread could not read them. */
export type ProveReply = { readonly id: number; readonly parts?: BlockMessage }

/** The work of a proving thread for one range. The thread that asked deals with wrong answers. */
export function proveInThread({ id, answers }: ProveRequest): ProveReply {
  try {
    return { id, parts: packBlocks(parseBulkParts(answers)) }
  } catch (error) {
    if (error instanceof Failure) return { id }
    throw error
  }
}

/** A thread, as its opener sees it. */
type ProvingThread = { post(message: ProveRequest): void; end(): void }

/** `ended`: the thread accepts no more messages; `reason`: the cause of its death. */
type ProvingListener = { readonly message: (message: ProveReply) => void; readonly ended: (reason: string) => void }

export type OpenProvingThread = (listener: ProvingListener) => ProvingThread

/** The means to open threads, their number, and the fewest blocks of a range for which they are opened. */
export type ProvingThreads = { readonly open: OpenProvingThread; readonly count: number; readonly least: number }

/** Threads that decode and prove the answers of bulk calls, in parallel with the thread that derives. */
export type Provers = {
  /** The packed parts of a range. undefined: no thread could prove them; the caller then asks again. */
  prove(answers: BulkAnswers): Promise<BlockMessage | undefined>
  close(): void
}

type Answer = (parts: BlockMessage | undefined) => void
type Opened = { readonly thread: ProvingThread; readonly waiting: Map<number, Answer> }

/**
 * Opens `count` threads. A thread that dies is not replaced, and its work is returned unproved. After the
 * last one has died, the caller proves by itself. `onDeath` is called with the cause of each death.
 */
export function openProvers(open: OpenProvingThread, count: number, onDeath: (reason: string) => void): Provers {
  const threads = new Set<Opened>()
  let ids = 0
  let closed = false
  const start = (): void => {
    const waiting = new Map<number, Answer>()
    const give = (id: number, parts: BlockMessage | undefined): void => {
      const answer = waiting.get(id)
      waiting.delete(id)
      answer?.(parts)
    }
    const opened: Opened = {
      waiting,
      thread: open({
        message: ({ id, parts }) => give(id, parts),
        ended: reason => {
          threads.delete(opened)
          for (const id of [...waiting.keys()]) give(id, undefined)
          if (!closed) onDeath(reason)
        },
      }),
    }
    threads.add(opened)
  }
  for (let started = 0; started < count; started += 1) start()
  return {
    prove: async answers => {
      const idlest = [...threads].sort((a, b) => a.waiting.size - b.waiting.size)[0]
      if (idlest === undefined) return undefined
      ids += 1
      const { promise, resolve } = Promise.withResolvers<BlockMessage | undefined>()
      idlest.waiting.set(ids, resolve)
      idlest.thread.post({ id: ids, answers })
      return await promise
    },
    close: () => {
      closed = true
      for (const { thread, waiting } of threads) {
        for (const answer of waiting.values()) answer(undefined)
        waiting.clear()
        thread.end()
      }
      threads.clear()
    },
  }
}
