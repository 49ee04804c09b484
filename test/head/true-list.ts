import { type ListCall, listCall } from '../support/oracle/list-call.ts'
import type { BlockTruth, TrueRow } from './branch-truth.ts'
import type { ForkBlock } from './fork-node.ts'

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
export const shownRow = (row: TrueRow): readonly unknown[] => [
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
