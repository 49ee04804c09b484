import { Failure } from '#failure/failure.ts'
import type { Identity } from './port.ts'

/** Throws Failure('conflict') when a loader of chain and rules `given` must not go on with what `stored` began. */
export const checkIdentity = (store: string, stored: Identity | undefined, given: Identity): void => {
  if (stored === undefined) return
  const refuse = (what: string, has: string | number, needs: string | number, help: string): never => {
    throw new Failure('conflict', `${store} has ${what} ${has}, the loader ${needs}.`, { help })
  }
  const elsewhere = 'Load this chain into another store, or point --node at the chain that is stored.'
  if (stored.chainId !== given.chainId) refuse('chain id', stored.chainId, given.chainId, elsewhere)
  if (stored.genesis !== given.genesis) refuse('genesis block', stored.genesis, given.genesis, elsewhere)
  if (stored.derivation !== given.derivation)
    refuse(
      'documents of derivation version',
      stored.derivation,
      given.derivation,
      'Run iostlens indices migrate with this version, or go on with the version that began.',
    )
}
