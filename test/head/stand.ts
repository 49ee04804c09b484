import { createFollower, type Follower } from '#head/follow.ts'
import { createNode } from '#node/create-node.ts'
import type { Node } from '#node/port.ts'
import type { Published, Store } from '#store/port.ts'
import { storedBlocks } from '#store/stored-blocks.ts'
import { type HandClock, handClock } from '../support/clocks/hand-clock.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { loadOnce } from '../support/stores/loading.ts'
import { type BlockTruth, branchTruth } from './branch-truth.ts'
import {
  createForks,
  type ForkBlock,
  type ForkNode,
  type Forks,
  type Stand,
  serveForks,
} from './fork-node.ts'

/** Blocks below which nothing forks. */
const BASE = 40
/** After which a query asks again for a transaction that was not found. */
const ASK_AGAIN_MS = 50

/** A service that follows two nodes of a chain that forks, over a store that is loaded from the same nodes. */
export type ForkStand = {
  readonly forks: Forks
  readonly node: ForkNode
  /** The one that is given second. */
  readonly other: ForkNode
  readonly truth: (block: ForkBlock) => BlockTruth
  readonly store: Store
  readonly service: Service
  readonly clock: HandClock
  readonly follower: Follower
  /** Through which the service asks both nodes. */
  readonly client: Node
  /** The node that answers, by what was found out at the last probe. */
  asked(): ForkNode
  /** Where the node with the highest irreversible block stands: the chain up to there is final. */
  final(): Stand
  published(): Promise<Published>
  /** Finds out where the nodes stand, as it is done every second. */
  probe(): Promise<void>
  /** Loads up to the last irreversible block of the nodes. */
  load(): Promise<void>
  /** Lets only that time pass which a query waits for before it asks for a transaction again: no node is slow. */
  done<T>(work: Promise<T>): Promise<T>
  /** A new process takes the place of the service: nothing of the head or of feeds is kept. */
  restart(): void
  stop(): void
}

export const forkStand = async (seed: number, store: Store): Promise<ForkStand> => {
  const forks = createForks(seed, BASE)
  const nodes = [1, 2].map(() => serveForks(forks, { head: forks.base, lib: BASE }))
  const [node, other] = nodes as [ForkNode, ForkNode]
  const urls = nodes.map(({ url }) => url)
  const clock = handClock()
  const client = createNode({ urls, clock })
  const loading = createNode({ urls })
  const followed = () => createFollower({ node: client, store, prove: 'signed', clock, log: () => undefined })
  let follower = followed()
  const head = {
    shown: () => follower.shown(),
    onChange: (listener: Parameters<Follower['onChange']>[0]) => follower.onChange(listener),
  }
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
    truth: branchTruth(forks),
    get service() {
      return service
    },
    get follower() {
      return follower
    },
    // Of two that are equally high the one that is given first.
    asked: () =>
      nodes.filter(({ isAway }) => !isAway).toSorted((a, b) => b.stand.lib - a.stand.lib)[0] ?? node,
    final: () => (other.stand.lib > node.stand.lib ? other : node).stand,
    probe: async () => {
      const looking = createNode({ urls, clock })
      await looking.watch(() => store.identity(), storedBlocks(store))
      client.takeOver(looking.health())
      looking.close()
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
      client.close()
      loading.close()
      for (const each of nodes) each.stop()
    },
  }
}
