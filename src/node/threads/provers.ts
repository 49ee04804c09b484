import type { BulkAnswers } from '../bulk-answers.ts'
import type { BlockMessage } from './block-message.ts'

/** A message to a thread: the answers of one range. */
export type Asked = { readonly id: number; readonly answers: BulkAnswers }

/** Its reply; without `parts`: something in the answers is wrong, or the thread could not read them. */
export type Proved = { readonly id: number; readonly parts?: BlockMessage }

/** A thread as the one that opened it sees it. */
export type ProvingThread = { post(message: Asked): void; end(): void }

/** `ended`: it takes nothing any more; `reason` is what it died of. */
export type ProvingListener = {
  readonly message: (message: Proved) => void
  readonly ended: (reason: string) => void
}

export type OpenProvingThread = (listener: ProvingListener) => ProvingThread

/** Threads that may be opened: how, how many, and blocks of a range from which on they are. */
export type ProvingThreads = {
  readonly open: OpenProvingThread
  readonly count: number
  readonly least: number
}

/** Threads that decode and prove the answers of bulk calls beside the one that derives. */
export type Provers = {
  /**
   * The parts of a range, packed. undefined: no thread could prove them; the caller then finds what is wrong, and asks for it
   * again.
   */
  prove(answers: BulkAnswers): Promise<BlockMessage | undefined>
  close(): void
}

type Answer = (parts: BlockMessage | undefined) => void
type Opened = { readonly thread: ProvingThread; readonly waiting: Map<number, Answer> }

/**
 * Opens `count` threads. One that dies is not replaced, and what it had is given back unproved; with the last one proving
 * is the caller's work. `onDeath` is told why each died.
 */
export const openProvers = (
  open: OpenProvingThread,
  count: number,
  onDeath: (reason: string) => void,
): Provers => {
  const threads = new Set<Opened>()
  let ids = 0
  let closed = false
  const start = (): void => {
    const waiting = new Map<number, Answer>()
    const give = (id: number, parts: BlockMessage | undefined): void => {
      const answer = waiting.get(id)
      waiting.delete(id)
      answer?.(parts)
    }
    const opened: Opened = {
      waiting,
      thread: open({
        message: ({ id, parts }) => give(id, parts),
        ended: reason => {
          threads.delete(opened)
          for (const id of [...waiting.keys()]) give(id, undefined)
          if (!closed) onDeath(reason)
        },
      }),
    }
    threads.add(opened)
  }
  for (let started = 0; started < count; started += 1) start()
  return {
    prove: async answers => {
      const idlest = [...threads].sort((a, b) => a.waiting.size - b.waiting.size)[0]
      if (idlest === undefined) return undefined
      ids += 1
      const { promise, resolve } = Promise.withResolvers<BlockMessage | undefined>()
      idlest.waiting.set(ids, resolve)
      idlest.thread.post({ id: ids, answers })
      return await promise
    },
    close: () => {
      closed = true
      for (const { thread, waiting } of threads) {
        for (const answer of waiting.values()) answer(undefined)
        waiting.clear()
        thread.end()
      }
      threads.clear()
    },
  }
}
