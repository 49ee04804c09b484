import { hashIn } from '../generator/answers.ts'
import { hashesOf } from '../generator/block.ts'
import { type BranchNow, branchNow } from './branch-now.ts'
import { type ForkBlock, textIn } from './fork-node.ts'
import { ancestor, leadsTo } from './lines.ts'
import type { ForkStand } from './stand.ts'
import { shownRow } from './true-list.ts'

/** An allowed answer to a query: the status of a refusal, or data. */
export type Expected = { readonly refused: number } | { readonly data: unknown }

/** A transaction and its status, as `get-transaction-detail` answers it. */
type TrueTransaction = {
  readonly status: string
  readonly transaction: object
  readonly block_number: string
}

/** The allowed answers to queries for single blocks and transactions at this moment. */
export type QueryTruth = {
  readonly now: BranchNow
  /** The last known block of the branch. */
  readonly tip: ForkBlock
  readonly blockAt: (height: number) => readonly Expected[]
  readonly blockOf: (hash: string) => readonly Expected[]
  readonly transactions: (hash: string) => readonly Expected[]
  /** The rows of get-transaction-records, each with its status. */
  readonly records: (hash: string) => readonly Expected[]
}

/**
 * The published chain and the branch shown above it determine the answers. While that branch is unknown, the asked
 * node's branch counts if it leads to the published block, and a refusal is allowed, too. Things on neither are not
 * found. A node that lags behind the other one cannot know that, so a refusal is allowed then.
 */
export async function queryTruth(stand: ForkStand): Promise<QueryTruth> {
  const { forks, node, other, final } = stand
  const asked = stand.asked().stand
  const now = await branchNow(stand)
  const published = await stand.published()
  const line = [...now.stored, ...(now.above ?? [])]
  const tip = line.at(-1) ?? forks.base
  const isCertain =
    now.above !== undefined &&
    asked.head === tip &&
    [node, other].every(({ stand: { head } }) => head.made.height <= asked.head.made.height)
  const unknown: readonly Expected[] = isCertain ? [NOT_FOUND] : [NOT_FOUND, UNAVAILABLE]
  const isOf = (block: ForkBlock): boolean => leadsTo(tip, { ...block, height: block.made.height })
  /** Whether a block is on the asked node's branch, while no better one is known. */
  const isAsked = (block: ForkBlock): boolean =>
    now.above === undefined &&
    leadsTo(asked.head, published) &&
    leadsTo(asked.head, { ...block, height: block.made.height })
  const isFinal = ({ made: { height }, hash }: ForkBlock): boolean =>
    height <= final().lib && leadsTo(final().head, { height, hash })
  /** The allowed values of "irreversible" for a block. */
  const isIrreversible = (block: ForkBlock): readonly boolean[] => {
    const { height } = block.made
    if (height <= now.height) return [true]
    if (isCertain) return [height <= asked.lib]
    return isFinal(block) ? [true, false] : [false]
  }
  const blocksOf = (block: ForkBlock): readonly Expected[] => {
    if (isOf(block)) return isIrreversible(block).map(is => ({ data: blockData(block, is) }))
    if (isAsked(block)) return [...isIrreversible(block).map(is => ({ data: blockData(block, is) })), UNAVAILABLE]
    return unknown
  }
  return {
    now,
    tip,
    blockAt: height => {
      const from = height <= tip.made.height ? tip : asked.head
      return height > from.made.height ? unknown : blocksOf(ancestor(from, height))
    },
    blockOf: hash => {
      const block = forks.blocks.get(hash)
      return block === undefined ? unknown : blocksOf(block)
    },
    transactions: hash => {
      const holders = forks.holders.get(hash) ?? []
      const [first] = holders
      if (first === undefined) return unknown
      const holder = holders.find(isOf)
      if (holder !== undefined) return isIrreversible(holder).map(is => packed(holder, hash, is))
      const further = holders.filter(block => isAsked(block) || isFinal(block))
      return [
        { data: transactionData(textIn(first, hash), 'PENDING', '-1') },
        ...further.flatMap(block => isIrreversible(block).map(is => packed(block, hash, is))),
        ...(isCertain ? [] : [UNAVAILABLE]),
      ]
    },
    records: hash => {
      const holders = forks.holders.get(hash) ?? []
      if (holders.length === 0) return unknown
      const holder = holders.find(isOf)
      // A transaction outside the branch counts as one in the pool. If only the node has its block, its rows
      // are unknown.
      if (holder === undefined) return [{ data: [] }, UNAVAILABLE]
      const rows = stand.truth(holder).rows.filter(row => row.hash === hash)
      return isIrreversible(holder).map(is => ({
        data: rows.map(row => [is ? 'IRREVERSIBLE' : 'PACKED', ...shownRow(row)]),
      }))
    },
  }
}

const NOT_FOUND: Expected = { refused: 404 }
export const UNAVAILABLE: Expected = { refused: 503 }

const blockData = ({ made, hash }: ForkBlock, isIrreversible: boolean) => ({
  hash,
  parent_hash: hashIn(made, 0),
  number: made.height,
  time: made.time,
  tx_count: String(made.texts.length),
  status: isIrreversible ? 'IRREVERSIBLE' : 'PENDING',
  hashes: hashesOf(made),
})

const packed = (block: ForkBlock, hash: string, isIrreversible: boolean): Expected => ({
  data: transactionData(
    textIn(block, hash),
    isIrreversible ? 'IRREVERSIBLE' : 'PACKED',
    isIrreversible ? String(block.made.height) : '-1',
  ),
})

/** The node's transaction in the form of answers with `numbers=string`. */
function transactionData(text: string, status: string, number: string): TrueTransaction {
  const transaction = JSON.parse(text)
  const { tx_receipt: receipt } = transaction
  return {
    status,
    transaction: {
      ...transaction,
      gas_ratio: String(transaction.gas_ratio),
      gas_limit: String(transaction.gas_limit),
      tx_receipt: status === 'PENDING' ? {} : { ...receipt, gas_usage: String(receipt.gas_usage) },
    },
    block_number: number,
  }
}
