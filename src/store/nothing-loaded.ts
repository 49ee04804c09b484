import { Failure } from '#failure/failure.ts'

/** Nothing was committed and published in this store yet, so there is nothing to read, compare or derive from. */
export const nothingLoaded = (name: string): Failure =>
  new Failure('unavailable', `${name}: nothing is loaded yet.`, {
    help: 'Start a loader, or wait for its first batch.',
  })
