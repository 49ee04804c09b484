import { expect, setDefaultTimeout, test } from 'bun:test'
import { type CliFolder, cliFolder, type Running } from '../support/processes/cli-process.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { branchTruth } from './branch-truth.ts'
import { busyLists } from './check-feeds.ts'
import { createForks, type ForkBlock, type ForkNode, type Forks, serveForks } from './fork-node.ts'
import { type HeadReader, headReader } from './head-reader.ts'
import { aboveOf } from './stand.ts'

setDefaultTimeout(600_000)

/** Blocks below which nothing forks. */
const BASE = 40
const ROUNDS = 4

/** Loads, follows the head and serves on two threads; after `kills` the process is another one. */
const serving = async (folder: CliFolder, node: ForkNode) => {
  const plan = ['--per-second', '100000', '--per-day', '1000000000']
  const { out } = await folder.run(['keys', 'add', 'reader', ...plan])
  const begin = async (): Promise<{ readonly process: Running; readonly url: string }> => {
    const address = ['--node', node.url, '--listen', '127.0.0.1:0', '--threads', '2']
    const process = folder.start(['up', ...address])
    return { process, url: await process.firstLine }
  }
  let now = await begin()
  let kills = 0
  return {
    key: out.trimEnd().split('\n').at(-1) ?? '',
    ask: (path: string, init?: RequestInit) => fetch(now.url + path, init),
    kills: () => kills,
    kill: async () => {
      kills += 1
      now.process.kill('SIGKILL')
      await now.process.ended
      now = await begin()
    },
  }
}

/** The chain goes on: some blocks, often on another branch from above the irreversible one, which then goes on, too. */
const goOn = (forks: Forks, node: ForkNode, random: () => number): void => {
  const { head, lib } = node.stand
  const above = aboveOf(head, lib)
  let tip: ForkBlock = random() < 0.6 ? (above[Math.floor(random() * above.length)]?.parent ?? head) : head
  const until = head.made.height + 2 + Math.floor(random() * 3)
  while (tip.made.height < until)
    tip = forks.grow(tip, { waits: random() < 0.3, seed: Math.floor(random() * 2 ** 31) })
  node.stand = { head: tip, lib: lib + Math.floor(random() * (tip.made.height - lib)) }
}

/** Waits until a reader has what the node has. */
const settled = async ({ list, rows, packed, done }: HeadReader, forks: Forks, node: ForkNode) => {
  const { head, lib } = node.stand
  const line = aboveOf(head, forks.base.made.height).toReversed()
  const of = (isWanted: (height: number) => boolean) =>
    line.filter(({ made }) => isWanted(made.height)).flatMap(list.of)
  const expected = [of(height => height <= lib), of(height => height > lib)]
  const isSo = () => Bun.deepEquals([rows.map(list.shown), packed().map(list.shown)], expected)
  while (!isSo()) await Promise.race([Bun.sleep(20), done])
}

test('feeds: a service that is killed under them and its load loses and doubles no row, whatever branch its node is on then', async () => {
  const seed = seedOf(5)
  const random = seeded(seed)
  const forks = createForks(seed, BASE)
  const node = serveForks(forks, { head: forks.base, lib: BASE })
  await using folder = await cliFolder()
  const service = await serving(folder, node)
  const whole = async (): Promise<boolean> => {
    const response = await service.ask(`/api/base/get-block-list?size=1&apikey=${service.key}`)
    const { data } = (await response.json()) as { readonly data?: { readonly total: number } }
    return data?.total === BASE + 1
  }
  while (!(await whole())) await Bun.sleep(20)
  let events = 0
  let killAt = Number.POSITIVE_INFINITY
  let killed: Promise<void> | undefined
  const onEvent = (): void => {
    events += 1
    if (events < killAt) return
    killAt = Number.POSITIVE_INFINITY
    killed = service.kill()
  }
  const lists = busyLists({ forks, truth: branchTruth(forks) })
  const readers = lists.map(list =>
    headReader(list, {
      ask: service.ask,
      key: () => service.key,
      random,
      onEvent,
      isAway: () => service.kills() > 0,
    }),
  )
  await Promise.all(readers.map(({ open }) => open))
  for (let round = 1; round <= ROUNDS; round += 1) {
    // In the middle of what this round brings.
    if (round % 2 === 0) killAt = events + 1 + Math.floor(random() * 60)
    goOn(forks, node, random)
    for (const reader of readers) await settled(reader, forks, node)
    await killed
  }
  expect(service.kills()).toBeGreaterThan(0)
  for (const reader of readers) {
    reader.stop()
    await reader.done
  }
  node.stop()
})
