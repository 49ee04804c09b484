import { isMissingIndex } from '../client/failures.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { EDITION } from '../schema/mappings.ts'
import { Newer } from './consistent-read.ts'

type Look = (signal: AbortSignal | undefined) => Promise<PublishedMeta | undefined>

/**
 * Reads the published height, and keeps the last readable one when the migration of a newer program publishes documents
 * of another edition. The old indices stay complete until an operator deletes them, so a running program answers from
 * them until it is restarted.
 */
export const readableFrom = (look: Look): Look => {
  let last: PublishedMeta | undefined
  return async signal => {
    const found = await look(signal)
    const isOther = found?.edition !== undefined && found.edition !== EDITION
    if (last !== undefined && isOther && found.edition !== last.edition) return last
    last = found
    return found
  }
}

/** If a generation is replaced and deleted while it is read, the read begins again with the next one. */
export const removedMeanwhile = async <T>(
  work: Promise<T>,
  at: PublishedMeta | undefined,
  look: () => Promise<PublishedMeta | undefined>,
): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (isMissingIndex(error) && (await look())?.batch !== at?.batch) throw new Newer()
    throw error
  }
}
