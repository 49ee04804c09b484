import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import type { Index } from '#indices/define.ts'
import { records } from '#indices/record.ts'
import { transactions } from '#indices/transaction.ts'
import { yieldEventLoop } from '#time/clock.ts'
import { UNDO_LIMITS } from '../../batch.ts'
import type { Batch } from '../../port.ts'
import { changesByTable } from '../commit.ts'
import { decodeFailure, packDocuments } from './messages.ts'
import type { FromWriting, ToWriting } from './write-in-thread.ts'

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
          return await thread.commit(batch)
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

type TakenOver = Omit<Extract<ToWriting, { type: 'open' }>, 'type'>

/** A thread that writes the batches of one file. */
function openWritingThread(open: OpenWritingThread, file: TakenOver) {
  let waiting: { readonly resolve: () => void; readonly reject: (failure: Failure) => void } | undefined
  let death: string | undefined
  const settle = (failure?: Failure): void => {
    const answer = waiting
    waiting = undefined
    if (failure === undefined) answer?.resolve()
    else answer?.reject(failure)
  }
  const thread = open({
    message: message => settle(message.type === 'failed' ? decodeFailure(message) : undefined),
    ended: reason => {
      death = reason
      settle(died(file.name, reason))
    },
  })
  const ask = (message: ToWriting): Promise<void> => {
    if (death !== undefined) throw died(file.name, death)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    waiting = { resolve, reject }
    thread.post(message)
    return promise
  }
  thread.post({ type: 'open', ...file })
  return {
    /** The thread died and can commit nothing more. */
    get isDead(): boolean {
      return death !== undefined
    },
    /**
     * Writes a batch and publishes its end in one transaction. false: a document has a value that its field cannot hold, and
     * nothing was written. Throws the errors of the transaction, and 'unavailable' if the thread died: it may have committed.
     */
    commit: async (batch: Batch): Promise<boolean> => {
      for (const [index, docs] of sliceBatch(batch)) {
        const part = packDocuments(index, docs)
        if (part === undefined) {
          thread.post({ type: 'drop' })
          return false
        }
        thread.post({ type: 'part', part })
        // Lets this process answer requests in between.
        await yieldEventLoop()
      }
      await ask({ type: 'commit', end: batch.end })
      return true
    },
    /** Ends the thread after its current work; its connection is closed then. */
    close: async (): Promise<void> => {
      if (death === undefined) await ask({ type: 'close' }).catch(() => undefined)
      thread.end()
    },
  }
}

/** All documents of a batch in the order of writing. */
function* sliceBatch(batch: Batch): Generator<readonly [Index, readonly object[]], void, void> {
  yield* sliced(blocks, batch.blocks)
  yield* sliced(transactions, batch.transactions)
  yield* sliced(records, batch.records)
  for (const [index, docs] of changesByTable(batch.changes)) yield* sliced(index, docs)
}

function* sliced(index: Index, docs: readonly object[]): Generator<readonly [Index, readonly object[]], void, void> {
  const perMessage = 1_000
  for (let at = 0; at < docs.length; at += perMessage) yield [index, docs.slice(at, at + perMessage)]
}

const died = (name: string, reason: string): Failure =>
  new Failure('unavailable', `The thread that writes to ${name} has died: ${reason}.`, {
    help: 'The batch is stored whole or not at all; loading continues from the stored blocks, without such a thread.',
  })
