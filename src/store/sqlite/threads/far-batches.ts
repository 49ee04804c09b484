import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import type { Index } from '#indices/define.ts'
import { records } from '#indices/record.ts'
import { transactions } from '#indices/transaction.ts'
import { nextTurn } from '#time/turn.ts'
import { KEPT } from '../../batch.ts'
import type { Batch } from '../../port.ts'
import { changesByTable } from '../commit.ts'
import { packed } from './document-message.ts'
import { failureFrom } from './failure-message.ts'
import type { FromWriting, ToWriting } from './write-in-thread.ts'

/** Writes the batches of a load that is far from the head by a thread, for one take-over of a store. */
export type FarBatches = {
  /** false: the batch is the caller's to write. Throws as `WritingThread.commit`. */
  commit(batch: Batch): Promise<boolean>
  /** Ends the thread, after what it writes. */
  close(): Promise<void>
}

export type FarBatchesOf = (file: TakenOver) => FarBatches

/** Threads that may be opened: how, and blocks behind the node's last irreversible one from which on they are. */
export type WritingThreads = { readonly open: OpenWritingThread; readonly least: number }

/** For the take-overs of one store; once a thread has died none is opened any more. */
export const farBatches = (threads: WritingThreads): FarBatchesOf => {
  let usable: OpenWritingThread | undefined = threads.open
  return file => {
    let thread: WritingThread | undefined
    const close = async (): Promise<void> => {
      await thread?.close()
      thread = undefined
    }
    return {
      commit: async batch => {
        const behind = batch.end.lib - batch.end.height
        // What is near the head can be taken back, and is small. A thread that is open goes on until then.
        const isFar = behind > KEPT.near && (thread !== undefined || behind >= threads.least)
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

/** A thread as the one that opened it sees it. */
export type OpenWritingThread = (listener: {
  readonly message: (message: FromWriting) => void
  /** It takes nothing any more, and what it had open is closed; `reason` is what it died of. */
  readonly ended: (reason: string) => void
}) => { post(message: ToWriting): void; end(): void }

/** A thread that writes the batches of one file. */
export type WritingThread = {
  /** It died: nothing can be committed by it any more. */
  readonly isDead: boolean
  /**
   * Writes a batch and publishes its end in one transaction. false: a document has a value that its field cannot hold, and
   * nothing was written. Throws what the transaction throws, and 'unavailable' where the thread died: it may have committed.
   */
  commit(batch: Batch): Promise<boolean>
  /** Ends it, after what it writes; its connection is closed then. */
  close(): Promise<void>
}

/** Documents that cross at once. */
const SLICE = 1_000

type Answer = { readonly resolve: () => void; readonly reject: (failure: Failure) => void }

/** A file as it was taken over. */
export type TakenOver = Omit<Extract<ToWriting, { type: 'open' }>, 'type'>

const openWritingThread = (open: OpenWritingThread, file: TakenOver): WritingThread => {
  let waiting: Answer | undefined
  let death: string | undefined
  const settle = (failure?: Failure): void => {
    const answer = waiting
    waiting = undefined
    if (failure === undefined) answer?.resolve()
    else answer?.reject(failure)
  }
  const thread = open({
    message: message => settle(message.type === 'failed' ? failureFrom(message) : undefined),
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
    get isDead() {
      return death !== undefined
    },
    commit: async batch => {
      for (const [index, docs] of slicesOf(batch)) {
        const part = packed(index, docs)
        if (part === undefined) {
          thread.post({ type: 'drop' })
          return false
        }
        thread.post({ type: 'part', part })
        // Requests of this process get their turn.
        await nextTurn()
      }
      await ask({ type: 'commit', end: batch.end })
      return true
    },
    close: async () => {
      if (death === undefined) await ask({ type: 'close' }).catch(() => undefined)
      thread.end()
    },
  }
}

/** All documents of a batch in the order in which they are written. */
function* slicesOf(batch: Batch): Generator<readonly [Index, readonly object[]], void, void> {
  yield* sliced(blocks, batch.blocks)
  yield* sliced(transactions, batch.transactions)
  yield* sliced(records, batch.records)
  for (const [index, docs] of changesByTable(batch.changes)) yield* sliced(index, docs)
}

function* sliced(
  index: Index,
  docs: readonly object[],
): Generator<readonly [Index, readonly object[]], void, void> {
  for (let at = 0; at < docs.length; at += SLICE) yield [index, docs.slice(at, at + SLICE)]
}

const died = (name: string, reason: string): Failure =>
  new Failure('unavailable', `The thread that writes to ${name} has died: ${reason}.`, {
    help: 'The batch is stored whole or not at all; loading goes on from what is stored, without such a thread.',
  })
