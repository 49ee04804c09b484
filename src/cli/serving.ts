import { join } from 'node:path'
import { USUAL_LEVEL } from '#chain/proof.ts'
import { type Counts, localCounts } from '#gate/queues.ts'
import { createRates } from '#gate/rate.ts'
import { openCounts } from '#gate/shared-counts.ts'
import { followHead } from '#head/follow.ts'
import { usageIn } from '#store/sqlite/usage.ts'
import { systemClock } from '#time/clock.ts'
import { type Counting, keepCounts } from './keep-counts.ts'
import { baseUrlOf, callOf } from './listen.ts'
import { watchThread } from './metrics/process-metrics.ts'
import { serveMetrics } from './metrics/serve-metrics.ts'
import { type OperatorFiles, watchOperatorFiles } from './operator-files.ts'
import { serveApp } from './serve-app.ts'
import type { Serve, Served, ServingParts } from './serve-parts.ts'
import { requireFreeSocket } from './socket-file.ts'
import { capacityOf, servingMemory } from './threads/memory.ts'
import { serveByThreads } from './threads/serve-by-threads.ts'
import { watchStore } from './watch-store.ts'

export type Serving = {
  /** Base URL with the actual port. */
  readonly url: string
  /** The way to call a path of the service. */
  readonly callOf: (path: string) => string
  /** Accepts no more requests, lets running ones end, and frees the port. */
  stop(): Promise<void>
}

/** Serves the API; throws 'usage' when the address is not available. */
export const startServing = async (parts: ServingParts): Promise<Serving> => {
  const { values, store, log, threads, metrics } = parts
  const { listen } = values
  const memory = threads === 1 || 'path' in listen ? undefined : servingMemory(threads, metrics.memory, values)
  const callers = memory === undefined ? localCounts(capacityOf(values)) : openCounts(memory.callers, threads)
  let tell: (files: OperatorFiles) => void = () => undefined
  const files = await watchOperatorFiles(values, {
    log,
    clock: systemClock,
    onChange: () => tell(files.get()),
  })
  const head = headOf(parts)
  const common = {
    ...parts,
    ...(head === undefined ? {} : { head }),
    files: files.get,
    callers,
    beforeRequests: () => keepDayCounts(parts, callers),
  }
  const ownMetrics = serveOwnMetrics(parts, callers)
  const serving =
    memory === undefined || 'path' in listen ? serveHere(common) : serveByThreads(listen, { ...common, memory })
  const served = await serving.catch((error: unknown) => {
    head?.stop()
    throw error
  })
  tell = served.tell
  const watching = watchStore(store, systemClock, {
    log,
    // What was damaged may have been restored; damage that is still there is met again.
    onRecovery: () => parts.metrics.own.damageMet.reset(),
  })
  return {
    url: baseUrlOf(served.address, values['base-path']),
    callOf: path => callOf(served.address, `${values['base-path']}${path}`),
    stop: async () => {
      // Running requests are completed first; some of them need blocks above the published one.
      await served.stop()
      watching.stop()
      await ownMetrics.stop()
      head?.stop()
      files.close()
      await served.counting.stop()
    },
  }
}

/** Serves the metrics of the main thread, beside those of the threads that serve. */
const serveOwnMetrics = (parts: ServingParts, callers: Counts): { readonly stop: () => Promise<void> } => {
  const { values, threads, metrics, droppedLines } = parts
  const { 'metrics-listen': address } = values
  const listener =
    address === undefined ? undefined : serveMetrics(address, { ...parts, clock: systemClock, places: callers.queues })
  // With a single thread, the app watches that thread.
  const watching = threads === 1 ? undefined : watchThread(metrics.own, droppedLines)
  return {
    stop: async () => {
      watching?.stop()
      await listener?.stop()
    },
  }
}

/** One follower serves all threads: the node is polled once, and each block is proved and derived once. */
const headOf = ({ values, store, node, log }: ServingParts) =>
  node === undefined
    ? undefined
    : followHead({ node, store, prove: values.prove ?? USUAL_LEVEL, clock: systemClock, log })

const keepDayCounts = ({ values, store, log }: ServingParts, { uses }: Counts): Promise<Counting> => {
  const file = join(values.data, 'usage.sqlite')
  const rates = createRates({ now: systemClock.now, uses })
  const local = { usage: usageIn(file), file }
  return keepCounts(rates, { usage: store.usage, local, clock: systemClock }, log)
}

const serveHere = async (serve: Serve): Promise<Served> => {
  const { listen: address, 'reuse-port': isShared } = serve.values
  if ('path' in address) await requireFreeSocket(address.path, isShared)
  const counting = await serve.beforeRequests()
  try {
    const app = serveApp({ ...serve, thread: 0 }, { address, isShared })
    return { ...app, counting, tell: () => undefined }
  } catch (error) {
    await counting.stop()
    throw error
  }
}
