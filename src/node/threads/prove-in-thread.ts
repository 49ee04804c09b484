import type { Note } from '#chain/block.ts'
import { Failure } from '#failure/failure.ts'
import { partsOf } from '../bulk.ts'
import { packed } from './block-message.ts'
import type { Asked, Proved } from './provers.ts'

/** The work of a thread that proves, for one range: answers that are wrong are the business of the one that asked. */
export const proveInThread = ({ id, answers }: Asked, note: Note): Proved => {
  try {
    return { id, parts: packed(partsOf(answers), note) }
  } catch (error) {
    if (error instanceof Failure) return { id }
    throw error
  }
}
