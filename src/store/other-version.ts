import { Failure } from '#failure/failure.ts'
import { DERIVATION } from '#indices/registry.ts'
import type { StoreDifference } from './port.ts'
import type { Identity } from './published.ts'

/** The remedy for a store whose parts differ from those of this version. */
export const MIGRATE =
  "'iostlens indices check' lists all differences. Run 'iostlens indices migrate', or use the version that created the store."

/** The store was written by another version of this program, so this process may misread it. */
export class OtherVersion extends Failure {}

/** @param difference what the store has and what this process reads, to follow "has" */
export const otherVersion = (store: string, difference: string): OtherVersion =>
  new OtherVersion('conflict', `${store} has ${difference}.`, {
    help: `If a newer version has migrated the store, restart with that one. If none has: ${MIGRATE}`,
  })

/** Throws when the documents were derived by other rules than those of the reader. */
export function requireDerivation(store: string, stored: Identity | undefined, own = DERIVATION): void {
  if (stored !== undefined && stored.derivation !== own)
    throw otherVersion(store, `documents of derivation version ${stored.derivation}, but this process reads ${own}`)
}

/** Throws when a part of the store is not of this version; names the first one. */
export function refuseDifferent(store: string, differences: readonly StoreDifference[]): void {
  const different = differences.filter(({ problem }) => problem === 'different')
  const [first] = different
  if (first === undefined) return
  const more = different.length > 1 ? `, and ${different.length - 1} more` : ''
  throw new Failure('conflict', `${store}: ${first.name} does not match this version${more}: ${first.detail}.`, {
    help: first.help ?? MIGRATE,
  })
}
