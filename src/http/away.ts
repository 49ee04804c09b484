import { Told } from './told.ts'

/** The service starts or stops: the same request is answered soon, here or by another process. */
export class Away extends Told {}
