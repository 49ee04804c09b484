import { decodeTransaction } from '#chain/decode-transaction.ts'
import { applies } from '#chain/effects.ts'
import { type LookupPublisher, UNKNOWN } from '#derive/working-state.ts'
import type { Writer } from '#store/port.ts'

/** Publishers of transactions, by transaction hash. */
export type KnownPublishers = {
  readonly get: LookupPublisher
  /**
   * Looks transactions up in the store. If one is missing, `commitAll` commits the blocks derived since, and
   * the lookup is repeated.
   */
  fetch(hashes: readonly string[], commitAll: () => Promise<void>): Promise<void>
}

/**
 * A publisher that was found is kept, since each later charge to the same contract needs it again. The
 * deployment of such a contract cost more RAM on the chain than the entry takes here.
 */
export function knownPublishers({ transactionsOf }: Pick<Writer, 'transactionsOf'>): KnownPublishers {
  const known = new Map<string, string | undefined>()
  const look = async (hashes: readonly string[]): Promise<readonly string[]> => {
    for (const { hash, body } of await transactionsOf(hashes)) {
      const tx = decodeTransaction(body)
      known.set(hash, applies(tx) ? tx.publisher : undefined)
    }
    return hashes.filter(hash => !known.has(hash))
  }
  return {
    get: hash => (known.has(hash) ? known.get(hash) : UNKNOWN),
    fetch: async (hashes, commitAll) => {
      if (hashes.length === 0) return
      const unstored = await look(hashes)
      if (unstored.length === 0) return
      await commitAll()
      for (const hash of await look(unstored)) known.set(hash, undefined)
    },
  }
}
