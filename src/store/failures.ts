import { Failure } from '#failure/failure.ts'
import { DERIVATION } from '#indices/registry.ts'
import type { StoreDifference } from './port.ts'
import type { Identity } from './published.ts'

export const RUN_REPAIR = "Run: 'iostlens repair --node URL'."

/** The remedy for damage. A repair that cannot mend it names another remedy. */
export const MEND = `${RUN_REPAIR} Should it end because the file itself is damaged, do what it says.`

/** Other documents imply one that is missing. No answer can be trusted until the document is restored. */
export const missingData = (message: string): Failure =>
  new Failure('damaged', message, { help: `The store is damaged. ${MEND}` })

/** No batch has been committed and published in this store yet, so nothing can be read, compared or derived. */
export class NothingLoaded extends Failure {}

export const nothingLoaded = (name: string): NothingLoaded =>
  new NothingLoaded('unavailable', `${name}: nothing is loaded yet.`, {
    help: 'Start a loader, or wait for its first batch.',
  })

/** A loader must not continue after an interrupted repair. */
export const unfinishedRepair = (name: string): Failure =>
  new Failure('conflict', `A repair of ${name} is not complete.`, { help: RUN_REPAIR })

/** A half-repaired store answers no requests. */
export const underRepair = (name: string): Failure =>
  new Failure('unavailable', `${name} is being repaired.`, {
    help: `Try again when the repair is done. If no repair is running, it was stopped. ${RUN_REPAIR}`,
    retryable: true,
  })

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

/** There is no store at the address: a mistyped name must not look like an empty store. */
export class AbsentStore extends Failure {}

export const absentStore = (name: string): AbsentStore =>
  new AbsentStore('not_found', `The store ${name} does not exist.`, {
    help: "Set the store that is loaded and served with --store (or --data). 'iostlens load', 'up', 'indices create' and 'keys add' create a store.",
  })
