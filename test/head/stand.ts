import { createFollower, type Follower } from '#head/follow.ts'
import { createNode } from '#node/create-node.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { type HandClock, handClock } from '../support/clocks/hand-clock.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { loadOnce } from '../support/stores/loading.ts'
import { type BlockTruth, branchTruth } from './branch-truth.ts'
import { createForks, type ForkBlock, type ForkNode, type Forks, serveForks } from './fork-node.ts'

/** Blocks below which nothing forks. */
const BASE = 40

/** A service that follows a node whose chain forks, over a store that is loaded from the same node. */
export type ForkStand = {
  readonly forks: Forks
  readonly node: ForkNode
  readonly truth: (block: ForkBlock) => BlockTruth
  readonly service: Service
  readonly client: Node
  readonly clock: HandClock
  readonly follower: Follower
  /** Loads up to the node's last irreversible block. */
  load(): Promise<void>
  /** A new process takes the place of the service: nothing of the head or of feeds is kept. */
  restart(): void
  stop(): void
}

export const forkStand = async (seed: number, store: Store): Promise<ForkStand> => {
  const forks = createForks(seed, BASE)
  const node = serveForks(forks, { head: forks.base, lib: BASE })
  const clock = handClock()
  const client = createNode({ urls: [node.url] })
  const followed = () => createFollower({ node: client, store, prove: 'signed', clock, log: () => undefined })
  let follower = followed()
  const head = {
    shown: () => follower.shown(),
    onChange: (listener: Parameters<Follower['onChange']>[0]) => follower.onChange(listener),
  }
  const load = async (): Promise<void> => {
    await loadOnce(client, store)
  }
  const served = () => serviceOn(store, { node: client, head, clock })
  let service = served()
  await store.create()
  await load()
  return {
    forks,
    node,
    clock,
    client,
    load,
    truth: branchTruth(forks),
    get service() {
      return service
    },
    get follower() {
      return follower
    },
    restart: () => {
      follower = followed()
      service = served()
    },
    stop: () => {
      client.close()
      node.stop()
    },
  }
}

/** The blocks of a line from its tip down to a height that is not included. */
export const aboveOf = (tip: ForkBlock, height: number): readonly ForkBlock[] => {
  const blocks: ForkBlock[] = []
  for (let at: ForkBlock | undefined = tip; at !== undefined && at.made.height > height; at = at.parent)
    blocks.push(at)
  return blocks
}
