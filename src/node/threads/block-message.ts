import { type BaseDifference, buildBaseTransaction, findDifference, isBase } from '#chain/base-transaction.ts'
import type { Block } from '#chain/block.ts'
import { IN_GENESIS, IN_TRANSACTION } from '#chain/bounds.ts'
import { decodeBodiedTransaction } from '#chain/decode-transaction.ts'
import type { RawHead } from '#chain/head.ts'
import type { BulkPart } from '../bulk-answers.ts'

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
  const base = findBaseDifference(block)
  const bodies = transactions.slice(base === undefined ? 0 : 1).map(({ body }) => body)
  const lengths = bodies.map(({ length }) => length)
  return { fields: { ...rest, time: String(time), ...(base && { base }), lengths }, bodies }
}

function findBaseDifference(block: Block): Fields['base'] {
  const [first] = block.transactions
  const difference = first && isBase(block, 0) ? findDifference(first, block.time) : undefined
  return first && difference && [first.hash, difference]
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
