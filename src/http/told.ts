import { Failure } from '#failure/failure.ts'

/**
 * A failure whose words are meant for callers although its kind usually has inner causes ('unavailable', 'deadline').
 * What stores and nodes say of such trouble names files and addresses, and stays in the log.
 */
export class Told extends Failure {}
