import { Failure } from '#failure/failure.ts'
import type { Connection } from '../client/connection.ts'

/** Attempts before a read fails with `OutOfDateCopy`. With two copies, 1 of 256 reads meets the same one each time. */
export const COPIES_TRIED = 8

/** A copy lacks the last write to its index, because its server was cut off. Another copy may answer. */
export class OutOfDateCopy extends Failure {
  constructor({ url }: Pick<Connection, 'url'>, index: string) {
    super('unavailable', `The copy of ${index} at ${url} that answered is out of date.`, {
      help: 'A server was cut off from its cluster and has not noticed yet. Retry; if this persists, check the network between the servers.',
      details: { index },
    })
  }
}
