import { isMissingIndex } from '../client/failures.ts'
import type { PublishedMeta } from '../schema/checkpoint.ts'
import { EDITION } from '../schema/mappings.ts'
import { Newer } from './consistent-read.ts'

type Look = (signal: AbortSignal | undefined) => Promise<PublishedMeta | undefined>

/**
 * Looks at the published height, and stays with the last one it could read when a newer program's migration puts
 * documents of another edition there: the old indices stay, whole and at their height, until somebody removes them, and
 * what is running goes on answering from them until it is started anew.
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

/** Whoever reads a generation that is replaced and removed meanwhile begins again with the next one. */
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
