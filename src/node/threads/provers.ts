import type { BulkAnswers } from '../bulk-answers.ts'
import type { BlockMessage } from './block-message.ts'

/** A message to a thread: the answers of one range. */
export type ProveRequest = { readonly id: number; readonly answers: BulkAnswers }

/** The reply; without `parts`, the answers contain a fault, or the thread could not read them. */
export type ProveReply = { readonly id: number; readonly parts?: BlockMessage }

/** A thread, as its opener sees it. */
export type ProvingThread = { post(message: ProveRequest): void; end(): void }

/** `ended`: the thread accepts no more messages; `reason`: the cause of its death. */
export type ProvingListener = {
  readonly message: (message: ProveReply) => void
  readonly ended: (reason: string) => void
}

export type OpenProvingThread = (listener: ProvingListener) => ProvingThread

/** The means to open threads, their number, and the fewest blocks of a range for which they are opened. */
export type ProvingThreads = {
  readonly open: OpenProvingThread
  readonly count: number
  readonly least: number
}

/** Threads that decode and prove the answers of bulk calls, in parallel with the thread that derives. */
export type Provers = {
  /** The packed parts of a range. undefined: no thread could prove them; the caller then asks again. */
  prove(answers: BulkAnswers): Promise<BlockMessage | undefined>
  close(): void
}

type Answer = (parts: BlockMessage | undefined) => void
type Opened = { readonly thread: ProvingThread; readonly waiting: Map<number, Answer> }

/**
 * Opens `count` threads. A thread that dies is not replaced, and its work is returned unproved. After the
 * last one has died, the caller proves by itself. `onDeath` is called with the cause of each death.
 */
export function openProvers(open: OpenProvingThread, count: number, onDeath: (reason: string) => void): Provers {
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
