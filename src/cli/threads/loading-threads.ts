import { availableParallelism } from 'node:os'
import type { Asked, OpenProvingThread, Proved } from '#node/threads/provers.ts'
import type { OpenWritingThread } from '#store/sqlite/threads/far-batches.ts'
import type { FromWriting, ToWriting } from '#store/sqlite/threads/write-in-thread.ts'
import type { Values } from '../settings.ts'
import { workersOf } from './worker.ts'

/** More of them would wait for the one that derives. */
const MOST = 3

/** The threads that prove blocks beside the main one; by default the process uses every core. */
export const provingThreads = (
  { threads = availableParallelism() }: Pick<Values, 'threads'>,
  program: URL,
): { readonly open: OpenProvingThread; readonly count: number } => ({
  open: workersOf<Asked, Proved>(program),
  count: Math.min(MOST, threads - 1),
})

/** The thread that writes an SQLite file beside the main one; undefined: the process uses one core, or has no such program. */
export const writingThreads = (
  { threads = availableParallelism() }: Pick<Values, 'threads'>,
  program: URL | undefined,
): OpenWritingThread | undefined =>
  program === undefined || threads < 2 ? undefined : workersOf<ToWriting, FromWriting>(program)
