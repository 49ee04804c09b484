import { Failure } from '#failure/failure.ts'
import type { Batch } from '#store/port.ts'
import { yieldEventLoop } from '#time/clock.ts'
import { UNDO_LIMITS } from '../../batch.ts'
import { sliceBatch } from '../commit.ts'
import { type FromWriting, packDocuments, parseFailure, type TakenOver, type ToWriting } from './write-in-thread.ts'

/** Lets a thread write the batches of a load that is far from the head, for one take-over of a store. */
export type FarBatches = {
  /** false: the caller must write the batch. Throws as the thread's `commit`. */
  commit(batch: Batch): Promise<boolean>
  /** Ends the thread after its current work. */
  close(): Promise<void>
}

export type FarBatchesOf = (file: TakenOver) => FarBatches

/** Opens threads, and the minimum distance in blocks to the node's last irreversible block for opening one. */
export type WritingThreads = { readonly open: OpenWritingThread; readonly least: number }

/** For the take-overs of one store; after a thread has died, no further thread is opened. */
export function farBatches(threads: WritingThreads): FarBatchesOf {
  let usable: OpenWritingThread | undefined = threads.open
  return file => {
    let thread: ReturnType<typeof openWritingThread> | undefined
    const close = async (): Promise<void> => {
      await thread?.close()
      thread = undefined
    }
    return {
      commit: async batch => {
        const behind = batch.end.lib - batch.end.height
        // Batches near the head are small and must stay revertible. An open thread continues until then.
        const isFar = behind > UNDO_LIMITS.near && (thread !== undefined || behind >= threads.least)
        if (usable === undefined || !isFar) {
          await close()
          return false
        }
        thread ??= openWritingThread(usable, file)
        try {
          await thread.commit(batch)
          return true
        } finally {
          if (thread.isDead) usable = undefined
        }
      },
      close,
    }
  }
}

/** A writing thread as its opener sees it. */
export type OpenWritingThread = (listener: {
  readonly message: (message: FromWriting) => void
  /** Called when the thread has ended and its files are closed; `reason` is the cause. */
  readonly ended: (reason: string) => void
}) => { post(message: ToWriting): void; end(): void }

/** A thread that writes the batches of one file. */
function openWritingThread(open: OpenWritingThread, file: TakenOver) {
  /** The last question, which may have been answered. */
  let asked: PromiseWithResolvers<void> | undefined
  let death: string | undefined
  const thread = open({
    message: message => {
      if (message.type === 'failed') asked?.reject(parseFailure(message))
      else asked?.resolve()
    },
    ended: reason => {
      death = reason
      asked?.reject(died(file.name, reason))
    },
  })
  const ask = (message: ToWriting): Promise<void> => {
    if (death !== undefined) throw died(file.name, death)
    asked = Promise.withResolvers<void>()
    thread.post(message)
    return asked.promise
  }
  thread.post({ type: 'open', ...file })
  return {
    /** The thread died and can commit nothing more. */
    get isDead(): boolean {
      return death !== undefined
    },
    /**
     * Writes a batch and publishes its end in one transaction. Throws the errors of the transaction, and 'unavailable' if the
     * thread died: it may have committed.
     */
    commit: async (batch: Batch): Promise<void> => {
      for (const [index, docs] of sliceBatch(batch)) {
        thread.post({ type: 'part', part: packDocuments(index, docs) })
        // Lets this process answer requests in between.
        await yieldEventLoop()
      }
      await ask({ type: 'commit', end: batch.end })
    },
    /** Ends the thread after its current work; its connection is closed then. */
    close: async (): Promise<void> => {
      if (death === undefined) await ask({ type: 'close' }).catch(() => undefined)
      thread.end()
    },
  }
}

const died = (name: string, reason: string): Failure =>
  new Failure('unavailable', `The thread that writes to ${name} has died: ${reason}.`, {
    help: 'The batch is stored whole or not at all; loading continues from the stored blocks, without such a thread.',
  })
