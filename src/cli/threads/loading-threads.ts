import { availableParallelism } from 'node:os'
import type { ProveReply, ProvingThreads, ProveRequest as ToProve } from '#node/bulk.ts'
import type { WritingThreads } from '#store/sqlite/threads/far-batches.ts'
import type { FromWriting, ToWriting } from '#store/sqlite/threads/write-in-thread.ts'
import type { Values } from '../settings.ts'

/** Returns a function that opens threads running a program. */
export const createWorkerOpener =
  <To, From>(program: URL) =>
  ({
    message,
    ended,
  }: {
    readonly message: (message: From) => void
    /** Called when the thread has ended and everything it had open is closed; `reason` is the cause. */
    readonly ended: (reason: string) => void
  }) => {
    const worker = new Worker(program.href)
    let reason: string | undefined
    worker.addEventListener('message', ({ data }: MessageEvent<From>) => message(data))
    worker.addEventListener('error', event => {
      event.preventDefault()
      // The line of the error itself: Bun prints an excerpt of the source before it and the stack after it.
      reason = /^(?:\w*Error|error): .*$/m.exec(event.message)?.[0] ?? event.message.trim()
    })
    worker.addEventListener('close', ({ code }) => ended(reason ?? `it ended with code ${code}`))
    return {
      post: (data: To): void => worker.postMessage(data),
      /** Ends the thread at once, even while it works; its connections are closed. */
      end: (): void => worker.terminate(),
    }
  }

/** Maximum number of proving threads: more would only wait for the thread that derives. */
const MAX = 3

type ThreadSettings = Pick<Values, 'threads'>

/**
 * Number of blocks from which on a load opens threads. Each thread costs 60 MB and about a second of CPU for
 * compilation, which pays off only in a longer load. When a number of threads is set, a shorter load is enough.
 */
const countLeastBlocks = ({ threads }: ThreadSettings): number => (threads === undefined ? 10_000 : 2_000)

/** The threads that prove blocks beside the main thread; by default the process uses every core. */
export const provingThreads = (settings: ThreadSettings, program: URL): ProvingThreads => ({
  open: createWorkerOpener<ToProve, ProveReply>(program),
  count: Math.min(MAX, (settings.threads ?? availableParallelism()) - 1),
  least: countLeastBlocks(settings),
})

/** The thread that writes an SQLite file; undefined when the process uses one core or has no such program. */
export const writingThreads = (settings: ThreadSettings, program: URL | undefined): WritingThreads | undefined =>
  program === undefined || (settings.threads ?? availableParallelism()) < 2
    ? undefined
    : { open: createWorkerOpener<ToWriting, FromWriting>(program), least: countLeastBlocks(settings) }
