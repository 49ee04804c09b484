import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Store } from '#store/port.ts'
import { refused } from '../support/nodes/rpc/answer.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { differences } from './check-answers.ts'
import { busyLists, feedsSettled, followLists } from './check-feeds.ts'
import type { ForkBlock } from './fork-node.ts'
import { aboveOf, type ForkStand, forkStand } from './stand.ts'

setDefaultTimeout(SOAK ? 3_600_000 : 600_000)

/** What happens at a step; `calm`: the node answers everything, so that the look must show its very head. */
type Step = { readonly name: string; readonly calm: boolean }

const fork = (stand: ForkStand, random: () => number): ForkBlock => {
  const { head, lib } = stand.node.stand
  const above = aboveOf(head, lib)
  const from = above[Math.floor(random() * above.length)]?.parent ?? head
  // Larger number wins, and at equal height the earlier time: the rival is as high at least.
  const rival = head.made.height - from.made.height + Math.floor(random() * 3)
  let tip = from
  for (let more = 0; more < rival; more += 1) tip = grown(stand, tip, random)
  return tip
}

const grown = ({ forks }: ForkStand, parent: ForkBlock, random: () => number): ForkBlock =>
  forks.grow(parent, { waits: random() < 0.3, seed: Math.floor(random() * 2 ** 31) })

/** Lets one thing happen that real nodes do. */
const happen = async (stand: ForkStand, random: () => number, others: ForkBlock[]): Promise<Step> => {
  const { node, clock } = stand
  const { head, lib } = node.stand
  node.meddle = undefined
  clock.leap(200)
  const drawn = random()
  const go = (next: ForkBlock): void => {
    others.push(head)
    if (others.length > 8) others.shift()
    node.stand = { head: next, lib }
  }
  if (drawn < 0.35) {
    node.stand = { head: grown(stand, head, random), lib }
    return { name: 'a block', calm: true }
  }
  if (drawn < 0.5 && head.made.height > lib) {
    go(fork(stand, random))
    return { name: 'another branch', calm: true }
  }
  if (drawn < 0.6) {
    // A branch that lost wins again, unless its height is irreversible now.
    const back = others.findLast(block => block !== head && block.made.height > lib && isAbove(block, stand))
    if (back === undefined) return { name: 'nothing', calm: true }
    let tip = back
    while (tip.made.height < head.made.height) tip = grown(stand, tip, random)
    go(tip)
    return { name: 'the branch before', calm: true }
  }
  if (drawn < 0.75) {
    // Mostly some blocks, now and then all at once.
    const room = head.made.height - lib
    const next = lib + (random() < 0.2 ? room : Math.min(room, Math.floor(random() * 6)))
    node.stand = { head, lib: next }
    return { name: 'irreversible', calm: true }
  }
  if (drawn < 0.85) {
    await stand.load()
    return { name: 'loaded', calm: true }
  }
  if (drawn < 0.9) {
    // Between two calls of one look the node goes over to another branch.
    let calls = Math.floor(random() * 6)
    const next = head.made.height > lib ? fork(stand, random) : grown(stand, head, random)
    node.meddle = () => {
      if (calls-- === 0) go(next)
      return undefined
    }
    return { name: 'a switch between two calls', calm: false }
  }
  if (drawn < 0.95) {
    const what = random() < 0.5 ? 'getBlockByHash' : 'getRawBlockByNumber'
    node.stand = { head: grown(stand, head, random), lib }
    node.meddle = call => (call === what ? refused(2, 'block not found') : undefined)
    return { name: `${what} finds nothing`, calm: false }
  }
  stand.restart()
  return { name: 'another service', calm: true }
}

/** Whether a block's branch still leads to the irreversible block of the node's own. */
const isAbove = (block: ForkBlock, { node }: ForkStand): boolean => {
  const at = (tip: ForkBlock) => aboveOf(tip, node.stand.lib).at(-1)?.parent
  return at(block) === at(node.stand.head)
}

const STEPS = SOAK ? 20_000 : 120

const simulate = async (
  stand: ForkStand,
  store: Store,
  seed: number,
): Promise<Readonly<Record<string, number>>> => {
  const random = seeded(seed)
  const readers = await followLists(stand, busyLists(stand), seeded(seed + 1))
  const others: ForkBlock[] = []
  const seen: Record<string, number> = {}
  for (let step = 1; step <= STEPS; step += 1) {
    const { name, calm } = await happen(stand, random, others)
    seen[name] = (seen[name] ?? 0) + 1
    if (name === 'another service') for (const reader of readers) reader.drop()
    await stand.follower.look(new AbortController().signal)
    await feedsSettled(stand, store, readers)
    const shown = stand.follower.shown()
    const at = `seed ${seed}, step ${step}, ${name}`
    if (calm && shown.status !== 'followed') throw new Error(`${at}: the head is ${shown.status}.`)
    if (shown.status !== 'followed') continue
    const tip = stand.forks.blocks.get(shown.tip.hash)
    if (tip === undefined) throw new Error(`${at}: the tip ${shown.tip.hash} is no block of the simulation.`)
    if (calm) expect([at, tip.hash]).toEqual([at, stand.node.stand.head.hash])
    stand.node.meddle = undefined
    expect([at, await differences(stand, tip, random)]).toEqual([at, []])
  }
  for (const reader of readers) {
    reader.stop()
    await reader.done
    for (const [event, count] of Object.entries(reader.seen)) seen[event] = (seen[event] ?? 0) + count
  }
  return seen
}

const STORES = [
  ['SQLite', async () => temporarySqlite()],
  ...(elasticsearchUrl() === undefined ? [] : [['Elasticsearch', async () => openTestElastic()] as const]),
] as const

test.each(STORES)(
  'forks: after every step each list with head=1 is that of one branch, whatever the node does, on %s',
  async (_name, open) => {
    const seed = seedOf(11)
    const { store, destroy } = await open()
    const stand = await forkStand(seed, store)
    try {
      const seen = await simulate(stand, store, seed)
      // Everything that real nodes were seen to do has happened, and feeds have told of it.
      expect(Object.keys(seen).length).toBeGreaterThanOrEqual(12)
      expect(Object.keys(seen)).toEqual(expect.arrayContaining(['message', 'packed', 'dropped']))
    } finally {
      stand.stop()
      await destroy()
    }
  },
)
