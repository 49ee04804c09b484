import { createFollower } from '#head/follow.ts'
import { createNode } from '#node/archive-node.ts'
import type { Node } from '#node/port.ts'
import type { Published, Store } from '#store/port.ts'
import { createHashSource } from '#store/servable.ts'
import { type HandClock, handClock } from '../support/clocks/hand-clock.ts'
import { serviceOn } from '../support/processes/service.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { loadOnce, temporarySqlite } from '../support/stores/loading.ts'
import { createForks, type ForkBlock, type ForkNode, serveForks } from './fork-node.ts'
import { branchTruth } from './lists.ts'

/** The last block below which nothing forks. */
const BASE = 40
/** The delay after which a query requests a missing transaction again. */
const ASK_AGAIN_MS = 50
/** Time between two probes of a node. */
const PROBE_MS = 1_000

export type ForkStand = Awaited<ReturnType<typeof forkStand>>

/** A service that follows two nodes of a chain with forks, with a store loaded from the same nodes. */
async function forkStand(seed: number, store: Store) {
  const forks = createForks(seed, BASE)
  const nodes = [1, 2].map(() => serveForks(forks, { head: forks.base, lib: BASE }))
  const [node, other] = nodes as [ForkNode, ForkNode]
  const urls = nodes.map(({ url }) => url)
  const clock = handClock()
  // Nodes are probed when a test asks for it, and not by time.
  const asleep: HandClock['sleep'] = (ms, signal) =>
    ms === PROBE_MS ? new Promise(() => undefined) : clock.sleep(ms, signal)
  const connect = () => createNode({ urls, clock: { ...clock, sleep: asleep } })
  const clients = [connect()] as [Node, ...Node[]]
  // A new client at each probe: heights that nodes reported before they forked count for none.
  const client = new Proxy(clients[0], { get: (first, name: keyof Node) => (clients.at(-1) ?? first)[name] })
  const loading = createNode({ urls })
  const followed = () => createFollower({ node: client, store, prove: 'signed', clock, log: () => undefined })
  let follower = followed()
  const head = { current: () => follower.current() }
  /** Loads up to the last irreversible block of the nodes. */
  const load = async (): Promise<void> => {
    await loadOnce(loading, store)
  }
  const published = async (): Promise<Published> => {
    const at = await store.published()
    if (at === undefined) throw new Error('Nothing is loaded.')
    return at
  }
  const served = () => serviceOn(store, { node: client, head, clock })
  let service = served()
  await store.create()
  await load()
  return {
    ...{ forks, node, other, clock, store, load, published },
    /** The client of the service for both nodes. */
    client,
    truth: branchTruth(forks),
    get service() {
      return service
    },
    get follower() {
      return follower
    },
    /** Both nodes have this head and this last irreversible block. */
    show: (head: ForkBlock, lib: number): void => {
      for (const each of nodes) each.stand = { head, lib }
    },
    /** The node that serves calls: of two nodes at the same height, the first one in the configuration. */
    asked: () => nodes.filter(({ isAway }) => !isAway).toSorted((a, b) => b.stand.lib - a.stand.lib)[0] ?? node,
    /** The state of the node with the highest irreversible block. The chain up to this block is final. */
    final: () => (other.stand.lib > node.stand.lib ? other : node).stand,
    /** Probes the states of the nodes, which a service does every second. */
    probe: async () => {
      const looking = connect()
      await looking.watch(() => store.identity(), createHashSource(store))
      clients.push(looking)
    },
    /** The service reads the head. */
    poll: () => follower.poll(new AbortController().signal),
    /** Passes only the delay before a query requests a transaction again, so no node seems slow. */
    done: async <T>(work: Promise<T>): Promise<T> => {
      let isDone = false
      const end = (): void => {
        isDone = true
      }
      work.then(end, end)
      while (!isDone) {
        await Bun.sleep(1)
        if (clock.isAwaited(ASK_AGAIN_MS)) await clock.pass(ASK_AGAIN_MS)
      }
      return work
    },
    /** Replaces the service with a new process, which knows nothing of the head and of feeds. */
    restart: () => {
      follower = followed()
      service = served()
    },
    stop: () => {
      for (const each of [...clients, loading]) each.close()
      for (const each of nodes) each.stop()
    },
  }
}

/** The stores by name on which the tests of the head run. */
export const STORES = [
  ['SQLite', async () => temporarySqlite()],
  ...(elasticsearchUrl() === undefined ? [] : [['Elasticsearch', async () => openTestElastic()] as const]),
] as const

/** Runs `work` with a stand and its own store, and removes both. */
export async function withStand<T>(
  open: (typeof STORES)[number][1],
  seed: number,
  work: (stand: ForkStand) => Promise<T>,
): Promise<T> {
  const { store, destroy } = await open()
  const stand = await forkStand(seed, store)
  try {
    return await work(stand)
  } finally {
    stand.stop()
    await destroy()
  }
}
