import { decodeTransaction } from '#chain/decode-transaction.ts'
import { Failure } from '#failure/failure.ts'
import type { BlockDoc } from '#indices/block.ts'
import { DERIVATION } from '#indices/registry.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import type { Identity } from './published.ts'

/** Throws Failure('conflict') when a loader of chain and rules `given` must not go on with what `stored` began. */
export const checkIdentity = (store: string, stored: Identity | undefined, given: Identity): void => {
  if (stored === undefined) return
  const refuse = (what: string, has: string | number, needs: string | number, help: string): never => {
    throw new Failure('conflict', `${store} has ${what} ${has}, but the loader needs ${needs}.`, { help })
  }
  const elsewhere = 'Load this chain into another store, or set --node to a node of the stored chain.'
  if (stored.chainId !== given.chainId) refuse('chain id', stored.chainId, given.chainId, elsewhere)
  if (stored.genesis !== given.genesis) refuse('genesis block', stored.genesis, given.genesis, elsewhere)
  if (stored.derivation !== given.derivation)
    refuse(
      'documents of derivation version',
      stored.derivation,
      given.derivation,
      'Run iostlens indices migrate with this version, or use the version that loaded the store.',
    )
}

/**
 * Which chain a store holds, by its first documents, where its own word is lost: every transaction says its chain, every
 * block the one before it.
 */
export const identityFrom = (store: string, { first, second, transaction }: FirstDocuments): Identity => {
  const genesis = first?.hash ?? second?.parent_hash
  if (genesis === undefined || transaction === undefined)
    throw new Failure('damaged', `${store} has lost the record of its chain and its first block.`, {
      help: 'Run iostlens load with another --store.',
    })
  return { genesis, chainId: decodeTransaction(transaction.body).chainId, derivation: DERIVATION }
}

type FirstDocuments = {
  readonly first: BlockDoc | undefined
  readonly second: BlockDoc | undefined
  readonly transaction: TransactionDoc | undefined
}
