import type { Block, Note } from '#chain/block.ts'
import { IN_GENESIS, IN_TRANSACTION } from '#chain/bounds.ts'
import { transactionFrom } from '#chain/decode-transaction.ts'
import type { RawHead } from '#chain/head.ts'
import type { Part } from '../bulk-answers.ts'

/**
 * Parts of blocks as they cross from one thread to another: texts, which cost next to nothing to hand over, while objects
 * would be copied one by one.
 */
export type BlockMessage = {
  /** A list of `Fields` in JSON; null where the block is missing. */
  readonly blocks: string
  /** All transactions of all blocks, as a list in JSON. */
  readonly bodies: string
  /** What was noted of the blocks, as a list in JSON; absent: nothing was to be. */
  readonly notes?: string
  /** By position. */
  readonly heads: readonly (readonly [at: number, head: RawHead])[]
}

/** All of a block but its transactions, of which the lengths of their texts are kept. */
type Fields = Omit<Block, 'time' | 'transactions'> & {
  readonly time: string
  readonly lengths: readonly number[]
}

const fieldsOf = ({ transactions, time, ...fields }: Block): Fields => ({
  ...fields,
  time: String(time),
  lengths: transactions.map(({ body }) => body.length),
})

/** Packs what a thread made of bulk answers, and what `note` says of them. */
export const packed = (parts: readonly Part[], note?: Note): BlockMessage => {
  const bodies = parts.flatMap(({ block }) => (block?.transactions ?? []).map(({ body }) => body))
  return {
    blocks: JSON.stringify(parts.map(({ block }) => (block === undefined ? null : fieldsOf(block)))),
    bodies: `[${bodies.join(',')}]`,
    ...(note === undefined ? {} : { notes: JSON.stringify(note(parts.flatMap(({ block }) => block ?? []))) }),
    heads: parts.flatMap(({ head }, at) => (head === undefined ? [] : [[at, head] as const])),
  }
}

/** The inverse of `packed`. Transactions are read from their own texts, which the other thread has proved. */
export const unpacked = ({ blocks, bodies, notes, heads }: BlockMessage): readonly Part[] => {
  const headAt = new Map(heads)
  const values = JSON.parse(bodies) as readonly unknown[]
  const noted = notes === undefined ? {} : { notes: JSON.parse(notes) as readonly string[] }
  let next = 0
  // Behind the bracket.
  let from = 1
  return (JSON.parse(blocks) as readonly (Fields | null)[]).map((fields, at) => {
    const head = headAt.get(at)
    const also = head === undefined ? {} : { head }
    if (fields === null) return also
    const { lengths, time, ...rest } = fields
    const data = rest.height === 0 ? IN_GENESIS : IN_TRANSACTION
    const transactions = lengths.map((length, key) => {
      const body = bodies.slice(from, from + length)
      from += length + 1
      const value = values[next]
      next += 1
      return transactionFrom({ value, body }, { key }, data)
    })
    return { ...also, ...noted, block: { ...rest, time: BigInt(time), transactions } }
  })
}
