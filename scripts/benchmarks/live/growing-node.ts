import { createForks, serveForks } from '#test/head/fork-node.ts'

/** Blocks that nobody sees come: the load begins with them. */
const BEFORE = 40
/** Blocks above the last irreversible one. A real chain has some 80; how many makes no difference here. */
const ABOVE = 12
/** A block comes each half second, as in the chain; a little apart, or all of them would meet the service alike. */
const EVERY_MS = 450
const SPREAD_MS = 100

/** A node whose chain grows by busy blocks. */
export type GrowingNode = {
  readonly url: string
  /** Since when the node knows a block as its head, and as irreversible, by `performance.now`; oldest first. */
  readonly since: Readonly<Record<Reach, ReadonlyMap<number, number>>>
  stop(): void
}

/** Up to where an answer reaches. */
export type Reach = 'irreversible' | 'head'

export const growingNode = (): GrowingNode => {
  const forks = createForks(1, BEFORE)
  const next = (parent: typeof forks.base) => forks.grow(parent, { waits: false, seed: parent.made.height })
  let head = forks.base
  for (let height = 0; height < ABOVE; height++) head = next(head)
  const node = serveForks(forks, { head, lib: BEFORE })
  const since = { irreversible: new Map<number, number>(), head: new Map<number, number>() }
  let timer: ReturnType<typeof setTimeout>
  const grow = (): void => {
    head = next(head)
    const { height } = head.made
    node.stand = { head, lib: height - ABOVE }
    const now = performance.now()
    since.head.set(height, now)
    since.irreversible.set(height - ABOVE, now)
    wait()
  }
  const wait = (): void => {
    timer = setTimeout(grow, EVERY_MS + Math.random() * SPREAD_MS)
  }
  wait()
  return {
    url: node.url,
    since,
    stop: () => {
      clearTimeout(timer)
      node.stop()
    },
  }
}
