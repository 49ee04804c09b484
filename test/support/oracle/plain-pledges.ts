import { toUnits } from '#chain/amount.ts'
import type { Block } from '#chain/block.ts'

/** A gas pledge or unpledge in the receipts of the blocks, in 10^-8 IOST. */
type PlainPledge = {
  readonly height: number
  readonly pledger: string
  readonly beneficiary: string
  readonly change: bigint
}

/** All pledges in the order of the chain. Independent of `src/derive`. */
export function plainPledges(blocks: Iterable<Block>): readonly PlainPledge[] {
  const all: PlainPledge[] = []
  for (const { height, transactions } of blocks)
    for (const { receipt } of transactions)
      for (const { funcName, content } of receipt.statusCode === 'SUCCESS' ? receipt.receipts : []) {
        if (funcName !== 'gas.iost/pledge' && funcName !== 'gas.iost/unpledge') continue
        const [pledger = '', beneficiary = '', amount = ''] = JSON.parse(content) as string[]
        const units = toUnits(amount, 8)
        all.push({ height, pledger, beneficiary, change: funcName === 'gas.iost/pledge' ? units : -units })
      }
  return all
}

/** The amount an account has pledged after a block, for itself and for others. */
export function plainPledged(pledges: readonly PlainPledge[], pledger: string, height: number) {
  let [self, others] = [0n, 0n]
  for (const each of pledges) {
    if (each.pledger !== pledger || each.height > height) continue
    if (each.beneficiary === pledger) self += each.change
    else others += each.change
  }
  return { self, others }
}
