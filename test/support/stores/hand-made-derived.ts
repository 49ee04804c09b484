import type { Transaction } from '#chain/block.ts'
import { balances } from '#indices/balance.ts'
import { lists } from '#indices/list.ts'
import type { RecordDoc } from '#indices/record.ts'
import { type DerivedChain, deriveChain } from './derived-chain.ts'
import { type action, chainOf, genesis, receipt, SECOND, START, transaction } from './hand-made.ts'

/** The documents and state derived from hand-made blocks after a genesis block. */
export const derive = (...blocks: readonly (readonly Transaction[])[]) => deriveChain(chainOf([genesis()], ...blocks))
export const sendReceipts = (...receipts: readonly ReturnType<typeof receipt>[]) => transaction({ receipts })
export const sendActions = (...actions: readonly ReturnType<typeof action>[]) => transaction({ actions })
export const rowsOf = ({ documents }: DerivedChain, height: number): readonly RecordDoc[] =>
  documents[height]?.records ?? []
export const count = ({ state }: DerivedChain, key: string): number | undefined => state.get(lists, key)?.count
/** The stored fields of a balance, without its name. */
export function balance({ state }: DerivedChain, id: string) {
  const { amount, frozen, frozen_list, next_due } = state.get(balances, id) ?? {}
  return { amount, frozen, frozen_list, next_due }
}
export const transfer = (...args: readonly unknown[]) => receipt('token.iost/transfer', args)
export const freeze = (from: string, to: string, amount: string, time: bigint) =>
  receipt('token.iost/transferFreeze', ['iost', from, to, amount, time, ''])
export const FIRST = START + SECOND
