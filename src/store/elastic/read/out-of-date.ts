import { Failure } from '#failure/failure.ts'
import type { Connection } from '../client/connection.ts'

/** Tries of a read after which a copy that is out of date is an answer: with two copies 1 of 256 meets the same one each time. */
export const COPIES_TRIED = 8

/** A copy lacks what was written to its index last: its server was cut off. Another copy may answer. */
export class OutOfDate extends Failure {
  constructor({ url }: Pick<Connection, 'url'>, index: string) {
    super('unavailable', `The copy of ${index} at ${url} that answered is out of date.`, {
      help: 'A server was cut off from its cluster and does not know it yet. Ask again; if this stays, check the network between the servers.',
      details: { index },
    })
  }
}
