import { headMessage, NO_BLOCKS_SENT } from '#head/head-message.ts'
import { startingAnswers } from '#http/starting.ts'
import { systemClock } from '#time/clock.ts'
import { reserve, shared } from '../listen.ts'
import type { Address } from '../readers.ts'
import { stopMs } from '../serve-app.ts'
import type { Serve, Served } from '../serve-parts.ts'
import { type KeptThread, keepThread } from './keep-thread.ts'
import { forgetThread, type ServingMemory } from './memory.ts'
import type { ToThread } from './messages.ts'
import { workersOf } from './worker.ts'

/** Time beyond the drain of requests, for closing and for the messages. */
const LEAVE_MS = 2_000

/**
 * Serves with several threads that share one address, which is impossible on a Unix socket. Each has its own
 * app, store and node clients. The main thread watches them, sends them operator files, node health and head
 * blocks, and writes their log lines. Throws 'usage' when the address is not available.
 */
export const serveByThreads = async (
  listen: Address,
  serve: Serve & { readonly memory: ServingMemory },
): Promise<Served> => {
  const { values, node, head, memory, log, screen } = serve
  const reserved = (values['reuse-port'] ? shared : reserve)(listen, answersBefore(serve))
  const counting = await serve.beforeRequests()
  const { address } = reserved
  const threads: readonly KeptThread[] = Array.from({ length: serve.threads }, (_, number) =>
    keepThread({
      number,
      open: workersOf(serve.threadProgram),
      begin: () => beginning(serve, address, number),
      onDeath: () => {
        serve.metrics.own.threadDeaths.add(1)
        forgetThread(memory, number)
      },
      log,
      writeLine: screen.line,
      clock: systemClock,
    }),
  )
  const stop = async (): Promise<void> => {
    await Promise.all(threads.map(thread => thread.stop(stopMs(values) + LEAVE_MS)))
  }
  const tell = (message: ToThread): void => {
    for (const thread of threads) thread.post(message)
  }
  node?.onProbe(() => tell({ type: 'health', health: node.health() }))
  const silence = head?.onChange((shown, before) => tell({ type: 'head', head: headMessage(shown, before) }))
  try {
    await Promise.all(threads.map(({ ready }) => ready))
  } catch (error) {
    await stop()
    await counting.stop()
    throw error
  } finally {
    reserved.release()
  }
  return {
    address,
    counting,
    tell: files => tell({ type: 'files', files }),
    stop: async () => {
      await stop()
      silence?.()
    },
  }
}

/** The first message to a thread. */
const beginning = (
  { values, version, memory, files, node, head }: Serve & { readonly memory: ServingMemory },
  address: Address,
  thread: number,
): ToThread => {
  const health = node?.health()
  return {
    type: 'serve',
    task: {
      ...{ values, version, address, thread, memory, files: files() },
      ...(health === undefined ? {} : { health }),
      ...(head === undefined ? {} : { head: headMessage(head.current(), NO_BLOCKS_SENT) }),
    },
  }
}

/** The answers to requests that arrive before the threads listen. */
const answersBefore = ({ values, version, log }: Serve) =>
  startingAnswers({
    ...{ version, log, clock: systemClock, deadlineMs: values.deadline, basePath: values['base-path'] },
    defaults: { format: values.format, compat: values.compat },
  })
