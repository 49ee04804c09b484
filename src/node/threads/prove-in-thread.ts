import { Failure } from '#failure/failure.ts'
import { parseBulkParts } from '../bulk.ts'
import { packBlocks } from './block-message.ts'
import type { ProveReply, ProveRequest } from './provers.ts'

/** The work of a proving thread for one range. The thread that asked deals with wrong answers. */
export function proveInThread({ id, answers }: ProveRequest): ProveReply {
  try {
    return { id, parts: packBlocks(parseBulkParts(answers)) }
  } catch (error) {
    if (error instanceof Failure) return { id }
    throw error
  }
}
