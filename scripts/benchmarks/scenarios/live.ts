import { createForks, serveForks } from '#test/head/fork-node.ts'
import { createKey, type Place, retryRefused, startService } from '../place.ts'
import { BINARY, type Server, startServer } from '../processes.ts'
import { countShares, formatTable, type TableRow } from '../report.ts'
import { measureFeeds } from './feeds.ts'

/** Number of blocks that exist when the load begins, and of those above the last irreversible one. */
const BEFORE = 40
const ABOVE = 12
/** Milliseconds between blocks; the random part varies the moment at which blocks reach the service. */
const EVERY_MS = 450
const SPREAD_MS = 100
/** Number of blocks whose delay is measured. */
const BLOCKS = 120
/** Milliseconds between two polls: a figure is too long by at most this and the time of an answer. */
const POLL_MS = 5

/** The polled path, and the header of the answer with its height. */
const POLLED = {
  irreversible: ['/api/block/get-latest-block', 'x-block-height'],
  head: ['/api/base/get-block-list?size=1&head=1', 'x-head-height'],
} as const
type Reach = keyof typeof POLLED
type GrowingNode = ReturnType<typeof createGrowingNode>

/**
 * A chain that grows by two busy blocks a second, loaded and served by one process: the delay from the node's knowing a
 * block until an answer has it, and the cost of readers of feeds.
 */
export async function measureLive(place: Place): Promise<string> {
  const node = createGrowingNode()
  const store = place.store.replace(/(\.sqlite)?$/, '-live$1')
  const follow = ['--store', store, '--node', node.url, '--ready-needs-node']
  const loader = await startServer(place.folder, [BINARY, 'up', '--listen', '127.0.0.1:0', ...follow])
  try {
    await waitUntilReady(loader)
    const key = await createKey(place.folder, store)
    const delays: TableRow[] = []
    for (const reach of ['irreversible', 'head'] as const) {
      const { p50, p99 } = countShares(await measureDelays(node, { url: loader.url, key }, reach))
      delays.push({ 'a block that is': reach, blocks: BLOCKS, 'p50 ms': p50, 'p99 ms': p99 })
    }
    const limits = ['max-feeds', 'max-feeds-per-key'].flatMap(name => [`--${name}`, `${place.options.readers}`])
    const feeds = await measureFeeds(place.options.readers, async () => {
      // Each measurement has a new process, free of the memory of former readers.
      const service = await startService({ folder: place.folder, store }, [...follow.slice(2), ...limits])
      await waitUntilReady(service)
      return service
    })
    return `${formatTable(delays)}\n\n${formatTable(feeds)}`
  } finally {
    await loader.stop()
    node.stop()
  }
}

async function waitUntilReady({ url }: Server): Promise<void> {
  while ((await retryRefused(() => fetch(`${url}/ready`))).status !== 200) await Bun.sleep(100)
}

/** Times from a block's arrival at the node until an answer has it, for blocks that arrive once the service is there. */
async function measureDelays(
  { since }: GrowingNode,
  { url, key }: { readonly url: string; readonly key: string },
  reach: Reach,
): Promise<readonly number[]> {
  const [path, header] = POLLED[reach]
  const readHeight = async (): Promise<number> => {
    const answer = await fetch(url + path, { headers: { 'x-api-key': key } })
    await answer.arrayBuffer()
    return Number(answer.headers.get(header) ?? -1)
  }
  let last = await readHeight()
  while (last + 1 < Math.max(...since[reach].keys())) last = await readHeight()
  const times: number[] = []
  while (times.length < BLOCKS) {
    await Bun.sleep(POLL_MS)
    const height = await readHeight()
    for (; last < height; last++) {
      const arrival = since[reach].get(last + 1)
      if (arrival !== undefined) times.push(performance.now() - arrival)
    }
  }
  return times
}

/** A node whose chain grows; `since` has the times by `performance.now` at which blocks became head and irreversible. */
function createGrowingNode() {
  const forks = createForks(1, BEFORE)
  const grow = (parent: typeof forks.base) => forks.grow(parent, { waits: false, seed: parent.made.height })
  let head = forks.base
  for (let count = 0; count < ABOVE; count++) head = grow(head)
  const node = serveForks(forks, { head, lib: BEFORE })
  const since = { irreversible: new Map<number, number>(), head: new Map<number, number>() }
  let timer: ReturnType<typeof setTimeout>
  const wait = (): void => {
    timer = setTimeout(
      () => {
        head = grow(head)
        const { height } = head.made
        node.stand = { head, lib: height - ABOVE }
        since.head.set(height, performance.now())
        since.irreversible.set(height - ABOVE, performance.now())
        wait()
      },
      EVERY_MS + Math.random() * SPREAD_MS,
    )
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
