import { Failure } from '#failure/failure.ts'

/** The remedy for damage. What a repair cannot mend, it says so with another remedy. */
export const MEND =
  "Run: 'iostlens repair --node URL'. Should it end because the file itself is damaged, do what it says."

/** Other documents imply one that is missing. No answer can be trusted until the document is restored. */
export const missingData = (message: string): Failure =>
  new Failure('damaged', message, {
    help: `The store is damaged. ${MEND}`,
  })
