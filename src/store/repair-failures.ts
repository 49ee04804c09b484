import { Failure } from '#failure/failure.ts'

const HELP = "Run: 'iostlens repair --node URL'."

/** A loader must not continue after an interrupted repair. */
export const unfinishedRepair = (name: string): Failure =>
  new Failure('conflict', `A repair of ${name} is not complete.`, { help: HELP })

/** A half-repaired store answers no requests. */
export const underRepair = (name: string): Failure =>
  new Failure('unavailable', `${name} is being repaired.`, {
    help: `Try again when the repair is done. If no repair is running, it was stopped. ${HELP}`,
    retryable: true,
  })
