import { Failure } from '#failure/failure.ts'

const HELP = 'Run: iostlens repair --node URL.'

/** A loader must not go on from what a repair has left half done. */
export const unfinishedRepair = (name: string): Failure =>
  new Failure('conflict', `A repair of ${name} is not complete.`, { help: HELP })

/** No request is answered from a store that is half repaired. */
export const underRepair = (name: string): Failure =>
  new Failure('unavailable', `${name} is being repaired.`, {
    help: `Try again when the repair is done. If no repair is running, it was stopped. ${HELP}`,
    retryable: true,
  })
