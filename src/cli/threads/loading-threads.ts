import { availableParallelism } from 'node:os'
import type { Proved, ProvingThreads, Asked as ToProve } from '#node/threads/provers.ts'
import type { WritingThreads } from '#store/sqlite/threads/far-batches.ts'
import type { FromWriting, ToWriting } from '#store/sqlite/threads/write-in-thread.ts'
import type { Values } from '../settings.ts'
import { workersOf } from './worker.ts'

/** Maximum number of proving threads: more would only wait for the thread that derives. */
const MOST = 3

/**
 * Number of blocks from which on a load opens threads. Each thread costs 60 MB and about a second of CPU for
 * compilation, which pays off only in a longer load. When a number of threads is set, a shorter load is enough.
 */
const LONG = { byDefault: 10_000, asked: 2_000 }

type Asked = Pick<Values, 'threads'>

const longFor = ({ threads }: Asked): number => (threads === undefined ? LONG.byDefault : LONG.asked)

/** The threads that prove blocks beside the main thread; by default the process uses every core. */
export const provingThreads = (asked: Asked, program: URL): ProvingThreads => ({
  open: workersOf<ToProve, Proved>(program),
  count: Math.min(MOST, (asked.threads ?? availableParallelism()) - 1),
  least: longFor(asked),
})

/**
 * The thread that writes an SQLite file beside the main thread; undefined when the process uses one core or
 * has no such program.
 */
export const writingThreads = (asked: Asked, program: URL | undefined): WritingThreads | undefined =>
  program === undefined || (asked.threads ?? availableParallelism()) < 2
    ? undefined
    : { open: workersOf<ToWriting, FromWriting>(program), least: longFor(asked) }
