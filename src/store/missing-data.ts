import { Failure } from '#failure/failure.ts'

/** Other documents imply one that is missing: no answer can be trusted until it is back. */
export const missingData = (message: string): Failure =>
  new Failure('damaged', message, {
    help: 'The store is damaged. Run: iostlens verify, then iostlens repair.',
  })
