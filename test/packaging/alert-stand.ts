import { catalogue, loadCounts, type MetricCounts, nodeCallNote, storeCallNote } from '#cli/metrics/catalogue.ts'
import { exposeMetrics } from '#cli/metrics/readings.ts'
import { Failure } from '#failure/failure.ts'
import { createQueues } from '#gate/queues.ts'
import { load } from '#load/load.ts'
import { createCounters } from '#metrics/counters.ts'
import { createNode } from '#node/archive-node.ts'
import type { Store } from '#store/port.ts'
import { handClock } from '../support/clocks/hand-clock.ts'
import { spokenNode } from '../support/nodes/spoken-node.ts'
import { serviceOn } from '../support/processes/service.ts'

/** Time of the last block. The service begins 40 seconds later. */
const MADE = 1_795_249_532_500
const HEIGHT = 4_000
const CAPACITY = { maxInFlight: 1, maxExports: 1, maxFeeds: 1, maxFeedsPerKey: 1 }

/** A service with its metrics, in which a test can make the store, node or clock fail. */
export function alertStand(inner: Store) {
  const counts: MetricCounts = createCounters(catalogue)
  const clock = handClock(MADE + 40_000)
  const queues = createQueues({ ...CAPACITY, deadlineMs: 10_000, clock })
  const trouble: {
    /** Thrown by every call of the store. */
    store?: Failure
    /** Duration of a read. */
    readMs: number
    silent: boolean
    lib: number
    /** Used share of the disk. */
    used: number
  } = { readMs: 0, silent: false, lib: HEIGHT, used: 0.5 }
  const ask = <T>(work: () => Promise<T>): Promise<T> => {
    if (trouble.store !== undefined) return Promise.reject(trouble.store)
    clock.leap(trouble.readMs)
    return work()
  }
  const note = storeCallNote(counts)
  const store: Store = {
    ...inner,
    disks: async () =>
      (await inner.disks()).map(disk => ({ ...disk, freeBytes: (1 - trouble.used) * disk.totalBytes })),
    published: () => ask(async () => ({ height: HEIGHT, hash: 'h', time: BigInt(MADE) * 1_000_000n, lib: HEIGHT })),
    read: async (work, options) => {
      const since = performance.now()
      try {
        const found = await ask(() => inner.read(work, options))
        note({ call: 'read', since })
        return found
      } catch (error) {
        note({ call: 'read', since, error })
        throw error
      }
    },
  }
  const said = spokenNode({})
  const node = {
    ...said,
    lastInfo: () => {
      const info = said.lastInfo()
      return trouble.silent || info === undefined ? undefined : { ...info, libBlock: trouble.lib }
    },
  }
  const service = serviceOn(store, { node, clock, counts, queues })
  const metrics = exposeMetrics(counts, { store, node, clock, queues, version: '0' })
  return {
    ...{ counts, clock, trouble, service, metrics },
    /** Requests a page that the store answers. */
    page: () => service.ask(`/api/?module=base&action=get-wealth-list&apikey=${service.key}`),
    /** A request to a node that does not answer. */
    askAway: async () => {
      const away = createNode({
        urls: ['http://127.0.0.1:1'],
        tries: 1,
        onCall: nodeCallNote(counts),
      })
      await away.chainInfo().catch(() => undefined)
      away.close()
    },
    /** Makes a load fail at its node this many times. */
    failLoads: async (times: number) => {
      const stop = new AbortController()
      let failed = 0
      const failing = Promise.reject(new Failure('unavailable', 'The node is away.'))
      failing.catch(() => undefined)
      await load(
        {
          node: { ...node, chainInfo: () => failing },
          store,
        },
        {
          ...loadCounts(counts, () => undefined),
          once: false,
          retry: 'always',
          signal: stop.signal,
          onProgress: () => undefined,
          log: () => {
            failed += 1
            if (failed === times) stop.abort()
          },
          clock: { ...clock, sleep: async () => undefined },
        },
      )
    },
  }
}
