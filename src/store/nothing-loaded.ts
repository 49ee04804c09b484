import { Failure } from '#failure/failure.ts'

/** No batch has been committed and published in this store yet, so nothing can be read, compared or derived. */
export const nothingLoaded = (name: string): Failure =>
  new Failure('unavailable', `${name}: nothing is loaded yet.`, {
    help: 'Start a loader, or wait for its first batch.',
  })
