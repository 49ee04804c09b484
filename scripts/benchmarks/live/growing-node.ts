import { createForks, serveForks } from '#test/head/fork-node.ts'

/** Number of blocks that exist when the load begins. */
const BEFORE = 40
/** Number of blocks above the last irreversible one. A real chain has some 80; the number makes no difference here. */
const ABOVE = 12
/**
 * Milliseconds between blocks, half a second on average as in the chain. The random part varies the moment at
 * which blocks reach the service.
 */
const EVERY_MS = 450
const SPREAD_MS = 100

/** A node whose chain grows by busy blocks. */
export type GrowingNode = {
  readonly url: string
  /** Times by `performance.now` at which a block became the node's head, and irreversible; oldest first. */
  readonly since: Readonly<Record<Reach, ReadonlyMap<number, number>>>
  stop(): void
}

/** The end of an answer's data: the last irreversible block, or the head. */
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
