import { hash8 } from '#chain/hash.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { decode } from '../schema/documents.ts'
import { hashTerm } from '../schema/hash-term.ts'
import { provedHistory } from './history-search.ts'
import type { ProofContext } from './proved-docs.ts'

/** Hashes per search. */
const AT_ONCE = 100
/** More documents than ever share the first 8 bytes of a hash. */
const MOST_FOUND = 16

/** Transactions up to the checkpoint with one of these hashes. */
export const transactionsOf = async (
  cluster: ReadCluster & ProofContext,
  { partitions, end }: Pick<Checkpoint, 'partitions' | 'end'>,
  hashes: readonly string[],
): Promise<readonly TransactionDoc[]> => {
  const indices = partitions.map((_, partition) => cluster.names.partition(transactions, partition))
  const found: TransactionDoc[] = []
  for (let from = 0; from < hashes.length; from += AT_ONCE) {
    const wanted = new Set(hashes.slice(from, from + AT_ONCE))
    const query = { terms: { hash8: [...wanted].map(hash => hashTerm(hash8(hash))) } }
    for (const { _id, _source } of await provedHistory(cluster, indices, {
      query,
      size: MOST_FOUND * AT_ONCE,
    })) {
      const doc = decode(transactions, _id, _source)
      if (wanted.has(doc.hash) && doc.height <= (end?.height ?? -1)) found.push(doc)
    }
  }
  return found
}
