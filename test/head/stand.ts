import { createFollower, type HeadFollower } from '#head/follow.ts'
import { createNode } from '#node/archive-node.ts'
import type { Node } from '#node/port.ts'
import type { Published, Store } from '#store/port.ts'
import { storedBlocks } from '#store/servable.ts'
import { type HandClock, handClock } from '../support/clocks/hand-clock.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { loadOnce, temporarySqlite } from '../support/stores/loading.ts'
import { createForks, type ForkBlock, type ForkNode, type Forks, type Stand, serveForks } from './fork-node.ts'
import { type BlockTruth, branchTruth } from './truth.ts'

/** The last block below which nothing forks. */
const BASE = 40
/** The delay after which a query requests a missing transaction again. */
const ASK_AGAIN_MS = 50
/** Time between two probes of a node. */
const PROBE_MS = 1_000

/** A service that follows two nodes of a chain with forks, with a store loaded from the same nodes. */
export type ForkStand = {
  readonly forks: Forks
  readonly node: ForkNode
  /** The second node in the configuration. */
  readonly other: ForkNode
  readonly truth: (block: ForkBlock) => BlockTruth
  readonly store: Store
  readonly service: Service
  readonly clock: HandClock
  readonly follower: HeadFollower
  /** The client of the service for both nodes. */
  readonly client: Node
  /** The node that serves calls according to the last probe. */
  asked(): ForkNode
  /** The state of the node with the highest irreversible block. The chain up to this block is final. */
  final(): Stand
  /** Both nodes have this head and this last irreversible block. */
  show(head: ForkBlock, lib: number): void
  published(): Promise<Published>
  /** Probes the states of the nodes, which a service does every second. */
  probe(): Promise<void>
  /** Loads up to the last irreversible block of the nodes. */
  load(): Promise<void>
  /** Passes only the delay before a query requests a transaction again, so no node seems slow. */
  done<T>(work: Promise<T>): Promise<T>
  /** Replaces the service with a new process, which knows nothing of the head and of feeds. */
  restart(): void
  stop(): void
}

export async function forkStand(seed: number, store: Store): Promise<ForkStand> {
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
    forks,
    node,
    other,
    clock,
    store,
    client,
    load,
    published,
    show: (head, lib) => {
      for (const each of nodes) each.stand = { head, lib }
    },
    truth: branchTruth(forks),
    get service() {
      return service
    },
    get follower() {
      return follower
    },
    // Of two nodes at the same height, the first one in the configuration serves calls.
    asked: () => nodes.filter(({ isAway }) => !isAway).toSorted((a, b) => b.stand.lib - a.stand.lib)[0] ?? node,
    final: () => (other.stand.lib > node.stand.lib ? other : node).stand,
    probe: async () => {
      const looking = connect()
      await looking.watch(() => store.identity(), storedBlocks(store))
      clients.push(looking)
    },
    done: async work => {
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
    restart: () => {
      follower = followed()
      service = served()
    },
    stop: () => {
      for (const each of clients) each.close()
      loading.close()
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
