import type { HeadState, HeadStatus } from '#head/head-state.ts'
import { hashIn } from '../generator/answers.ts'
import { hashesOf } from '../generator/block.ts'
import { type Row, rowsBetween, rowsOfTransaction } from '../generator/rows.ts'
import { txHash } from '../generator/transaction-hash.ts'
import { type ListCall, listCall } from '../support/oracle/plain-records.ts'
import { aboveOf, ancestor, type ForkBlock, type Forks, leadsTo, textIn } from './fork-node.ts'
import type { ForkStand } from './stand.ts'

/** A row of a branch with the hash of its transaction, which depends on the branch. */
type TrueRow = Row & { readonly hash: string }

/** The correct data of a block, computed from its plan. */
export type BlockTruth = {
  readonly rows: readonly TrueRow[]
  /** Hashes of its transactions, without the base transaction. */
  readonly hashes: readonly string[]
}

/** The correct data of the blocks of a chain with forks. */
export function branchTruth(forks: Forks): (block: ForkBlock) => BlockTruth {
  const { chain, base } = forks
  const { world } = chain
  const deployed = new Set<string>()
  for (const _ of rowsBetween(world, 0, base.made.height, deployed));
  const known = new WeakMap<ForkBlock, BlockTruth>()
  const truthOf = ({ made: { height, users } }: ForkBlock): BlockTruth => {
    const hashes = users.map(({ tx, place }) => txHash(world.seals, tx, place))
    const rows = users.flatMap(({ tx }, index) =>
      rowsOfTransaction(tx, { height, position: index + 1 }, deployed).map(row => ({
        ...row,
        hash: hashes[index] ?? '',
      })),
    )
    return { rows, hashes }
  }
  return block => {
    const truth = known.get(block) ?? truthOf(block)
    known.set(block, truth)
    return truth
  }
}

/** The current state of the chain, as answers must show it. */
export type BranchNow = {
  /** The published height. */
  readonly height: number
  /** Published blocks above the base of the forks. */
  readonly stored: readonly ForkBlock[]
  /** The blocks above the published height on the branch that the service shows; undefined: the branch is unknown. */
  readonly above: readonly ForkBlock[] | undefined
  /** The status of the branch that answers with head=1 must have. */
  readonly status: HeadStatus
}

/** The published chain, and the branch of the tip that the service shows. */
export async function branchNow({
  forks,
  final,
  follower,
  published,
}: Pick<ForkStand, 'forks' | 'final' | 'follower' | 'published'>): Promise<BranchNow> {
  const { height, hash } = await published()
  const stored = aboveOf(final().head, forks.base.made.height)
    .filter(({ made }) => made.height <= height)
    .toReversed()
  const shown = follower.current()
  if (shown.status !== 'followed') return { height, stored, above: undefined, status: shown.status }
  if (shown.tip.height <= height) return { height, stored, above: [], status: 'followed' }
  const tip = forks.blocks.get(shown.tip.hash)
  const above = tip === undefined ? [] : aboveOf(tip, height).toReversed()
  return above[0]?.parent?.hash === hash
    ? { height, stored, above, status: 'followed' }
    : { height, stored, above: undefined, status: 'apart' }
}

/** A row of an answer of the service. */
export type AnsweredRow = Readonly<Record<string, unknown>>

/** A list and its correct rows. */
export type TrueList = ListCall & {
  /** The rows of a block in this list, in order. */
  readonly of: (block: ForkBlock) => readonly (readonly unknown[])[]
  /** The same fields of an answered row. */
  readonly shown: (row: AnsweredRow) => readonly unknown[]
}

type Truth = (block: ForkBlock) => BlockTruth

export const blockList: TrueList = {
  module: 'base',
  action: 'block-list',
  params: {},
  of: ({ hash, made }) => [[made.height, hash, made.texts.length, true]],
  shown: ({ number, hash, tx_count, seq }) => [number, hash, tx_count, seq === undefined || seq === Number(number) + 1],
}

export const transactionList = (truth: Truth): TrueList => ({
  module: 'base',
  action: 'transaction-list',
  params: {},
  of: block => truth(block).hashes.map(hash => [hash, String(block.made.height)]),
  shown: ({ tx_hash, block }) => [tx_hash, block],
})

/** The list of records with a key; undefined: the key is not of such a list. */
export function recordList(truth: Truth, key: string): TrueList | undefined {
  const call = listCall(key)
  if (call === undefined) return undefined
  return {
    ...call,
    of: block =>
      truth(block)
        .rows.filter(({ keys }) => keys.includes(key))
        .map(shownRow),
    shown: answeredRow,
  }
}

/** The compared fields of a correct row. */
const shownRow = (row: TrueRow): readonly unknown[] => [
  row.hash,
  row.index,
  String(row.height),
  row.action,
  row.from,
  row.to,
  row.returned,
  row.status,
]

/** The same fields of an answered row. */
export const answeredRow = (row: AnsweredRow): readonly unknown[] => [
  row['tx_hash'],
  row['index'],
  row['block'],
  row['action_name'],
  row['from'],
  row['to'],
  row['return'],
  row['status_code'],
]

/** For this long, a head lower than the shown one is treated as that of a lagging node. */
const LAG_MS = 3_000
/** For this long, a head is shown without a confirmation by a node. */
const AWAY_MS = 5_000
const MOST_BLOCKS = 600

/**
 * The expected head after a poll of a node that answers everything, given the head shown before: the hash of
 * the tip, or the reason why there is none.
 *
 * @param ageMs time since a node confirmed the shown head
 */
export async function expectedHead(stand: ForkStand, before: HeadState, ageMs: number): Promise<string> {
  const { made, hash } = stand.asked().stand.head
  const published = await stand.published()
  const tip = before.status === 'followed' ? before.tip : undefined
  if (tip !== undefined && made.height < tip.height && ageMs < LAG_MS) return tip.hash
  if (made.height < published.height || made.height > published.height + MOST_BLOCKS) return 'behind'
  if (leadsTo(stand.asked().stand.head, published)) return hash
  return tip !== undefined && ageMs < AWAY_MS ? tip.hash : 'apart'
}

export const tipOrStatus = (shown: HeadState): string => (shown.status === 'followed' ? shown.tip.hash : shown.status)

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
