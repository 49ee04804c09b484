import { Failure } from '#failure/failure.ts'
import { partsOf } from '../bulk.ts'
import { packed } from './block-message.ts'
import type { Asked, Proved } from './provers.ts'

/** The work of a proving thread for one range. The thread that asked deals with wrong answers. */
export const proveInThread = ({ id, answers }: Asked): Proved => {
  try {
    return { id, parts: packed(partsOf(answers)) }
  } catch (error) {
    if (error instanceof Failure) return { id }
    throw error
  }
}
