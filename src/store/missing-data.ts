import { Failure } from '#failure/failure.ts'

/** Other documents imply one that is missing. No answer can be trusted until the document is restored. */
export const missingData = (message: string): Failure =>
  new Failure('damaged', message, {
    help: 'The store is damaged. Run: iostlens verify, then iostlens repair.',
  })
