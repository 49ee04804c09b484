import { type BaseDifference, buildBaseTransaction, findDifference, isBase } from '#chain/base-transaction.ts'
import type { Block, ProofLevel } from '#chain/block.ts'
import { IN_GENESIS, IN_TRANSACTION } from '#chain/bounds.ts'
import { decodeBodiedTransaction } from '#chain/decode-transaction.ts'
import type { RawHead } from '#chain/head.ts'

/** Heights of blocks, both inclusive. */
export type HeightRange = { readonly from: number; readonly to: number }

/** The part of one block in a bulk answer: head and block, one of them, or neither. */
export type BulkPart = { readonly head?: RawHead; readonly block?: Block }

/** The node's unparsed answers to both bulk calls for a range of blocks. */
export type BulkAnswers = HeightRange & { readonly prove: ProofLevel; readonly heads: string; readonly lists: string }

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
