import { Failure } from '#failure/failure.ts'
import { DERIVATION } from '#indices/registry.ts'
import type { Identity } from './published.ts'

/** The store was written by another version of this program, so this process may misread it. */
export class OtherVersion extends Failure {}

/** @param difference what the store has and what this process reads, to follow "has" */
export const otherVersion = (store: string, difference: string): OtherVersion =>
  new OtherVersion('conflict', `${store} has ${difference}.`, {
    help: "If a newer version has migrated the store, restart with that one. If none has: 'iostlens indices check' lists the differences. Run 'iostlens indices migrate', or use the version that created the store.",
  })

/** Throws when the documents were derived by other rules than those of the reader. */
export function requireDerivation(store: string, stored: Identity | undefined, own = DERIVATION): void {
  if (stored !== undefined && stored.derivation !== own)
    throw otherVersion(store, `documents of derivation version ${stored.derivation}, but this process reads ${own}`)
}
