import { PublicFailure } from '#failure/failure.ts'

/** The service starts or stops: the same request is answered soon, here or by another process. */
export class Away extends PublicFailure {}
