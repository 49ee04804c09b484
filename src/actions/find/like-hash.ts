import { listHash8Candidates } from '#chain/hash-beginning.ts'
import { blocks } from '#indices/block.ts'
import { contracts } from '#indices/contract.ts'
import { transactions } from '#indices/transaction.ts'
import type { View } from '#store/port.ts'

/**
 * A hash or an id as lists abbreviate it: its beginning and its end. The end is `""` if only the beginning is given.
 */
export type Shortened = { readonly beginning: string; readonly end: string }

const SHORTENED = /^([1-9A-HJ-NP-Za-km-z]{1,98})(?:(?:…|\.{2,3})([1-9A-HJ-NP-Za-km-z]*))?$/

/** The two ends of a text that may be an abbreviated hash; undefined: it cannot be one. */
export function parseShortenedHash(text: string): Shortened | undefined {
  const [, beginning = '', end = ''] = SHORTENED.exec(text) ?? []
  return beginning === '' ? undefined : { beginning, end }
}

/** A block or a transaction whose hash has these two ends, or a contract whose id has them. */
export type LikeHash =
  | { readonly type: 'block' | 'transaction'; readonly hash: string; readonly height: number }
  | { readonly type: 'contract'; readonly id: string }

/** Maximum number of contracts compared: far fewer begin with `Contract` and the same two characters. */
const MAX_CONTRACTS = 500

/** Blocks, transactions, base transactions or contracts of the store whose hash or id has these two ends. */
export async function likeHash(view: View, { beginning, end }: Shortened): Promise<readonly LikeHash[]> {
  if (beginning.startsWith('Contract')) {
    const found = await view.startingWith(contracts, beginning, MAX_CONTRACTS)
    return found.filter(({ id }) => id.endsWith(end)).map(({ id }) => ({ type: 'contract', id }))
  }
  const keys = listHash8Candidates(beginning)
  if (keys.length === 0) return []
  const [ofBlocks, ofBase, ofTransactions] = await Promise.all([
    view.findAny(blocks, 'hash8', keys),
    view.findAny(blocks, 'base_hash8', keys),
    view.findAny(transactions, 'hash8', keys),
  ])
  const all: readonly LikeHash[] = [
    ...ofBlocks.map(({ hash, height }) => ({ type: 'block' as const, hash, height })),
    ...ofBase.map(({ tx_hashes, height }) => {
      const [hash = ''] = tx_hashes.split(' ', 1)
      return { type: 'transaction' as const, hash, height }
    }),
    ...ofTransactions.map(({ hash, height }) => ({ type: 'transaction' as const, hash, height })),
  ]
  return all.filter(one => 'hash' in one && one.hash.startsWith(beginning) && one.hash.endsWith(end))
}
