import { decodeTransaction } from '#chain/decode-transaction.ts'
import { findStakes, STAKE_KEEPERS } from '#chain/stake.ts'
import { transactionId } from '#indices/position.ts'
import type { ListedRecord } from '#indices/record.ts'
import { missingData } from '#store/missing-data.ts'
import { type Bodies, inChunks } from './overflow.ts'

/** The ids of those rows that moved IOST into a vote or a pledge or out of it (`findStakes`). */
export async function findStakeRows(bodiesOf: Bodies, docs: readonly ListedRecord[]): Promise<ReadonlySet<string>> {
  const stakes = new Set<string>()
  for (const part of inChunks(docs.filter(isNearKeeper))) {
    const bodies = await bodiesOf(part)
    const tests = new Map([...bodies].map(([id, body]) => [id, findStakes(decodeTransaction(body))]))
    for (const doc of part) {
      const isStake = tests.get(transactionId(doc.height, doc.tx))
      if (isStake === undefined) throw missingData(`The transaction of record '${doc.id}' is not stored.`)
      if (isStake(doc)) stakes.add(doc.id)
    }
  }
  return stakes
}

const isNearKeeper = ({ amount, from, to }: ListedRecord): boolean =>
  amount !== undefined && (STAKE_KEEPERS.has(from) || STAKE_KEEPERS.has(to))
