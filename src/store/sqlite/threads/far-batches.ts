import type { Batch } from '#store/port.ts'
import { KEPT } from '#store/undo.ts'
import {
  type OpenWritingThread,
  openWritingThread,
  type TakenOver,
  type WritingThread,
} from './writing-thread.ts'

/** Writes the batches of a load that is far from the head by a thread, for one take-over of a store. */
export type FarBatches = {
  /** false: the batch is the caller's to write. Throws as `WritingThread.commit`. */
  commit(batch: Batch): Promise<boolean>
  /** Ends the thread, after what it writes. */
  close(): Promise<void>
}

export type FarBatchesOf = (file: TakenOver) => FarBatches

/** For the take-overs of one store; once a thread has died none is opened any more. Without `open` there are none. */
export const farBatches = (open: OpenWritingThread | undefined): FarBatchesOf => {
  let usable = open
  return file => {
    let thread: WritingThread | undefined
    const close = async (): Promise<void> => {
      await thread?.close()
      thread = undefined
    }
    return {
      commit: async batch => {
        if (usable === undefined || !isFar(batch)) {
          await close()
          return false
        }
        thread ??= openWritingThread(usable, file)
        try {
          return await thread.commit(batch)
        } finally {
          if (thread.isDead) usable = undefined
        }
      },
      close,
    }
  }
}

/** What is near the head can be taken back, and is small. */
const isFar = ({ end }: Batch): boolean => end.lib - end.height > KEPT.near
