import { Failure } from '#failure/failure.ts'

/** Something must be stored, by what else is stored, and is not: nothing true can be said until it is there again. */
export const lacking = (message: string): Failure =>
  new Failure('damaged', message, {
    help: 'The store is damaged. Run: iostlens verify, then iostlens repair.',
  })
