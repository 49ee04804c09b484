import { Failure } from '#failure/failure.ts'

/** No batch has been committed and published in this store yet, so nothing can be read, compared or derived. */
export class NothingLoaded extends Failure {}

export const nothingLoaded = (name: string): NothingLoaded =>
  new NothingLoaded('unavailable', `${name}: nothing is loaded yet.`, {
    help: 'Start a loader, or wait for its first batch.',
  })
