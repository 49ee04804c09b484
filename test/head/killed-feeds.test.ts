import { expect, test } from 'bun:test'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { until } from '../support/wait.ts'
import { busyLists } from './checks.ts'
import { aboveOf, createForks, type ForkNode, type Forks, growSome, serveForks } from './fork-node.ts'
import { type HeadReader, headReader } from './head-reader.ts'
import { branchTruth } from './truth.ts'

/** The last block below which nothing forks. */
const BASE = 40
const ROUNDS = SOAK ? 40 : 2

/** A process that loads, follows the head and serves. `kill` replaces it with a new one. */
async function startService(folder: CliFolder, node: ForkNode) {
  const plan = ['--per-second', '100000', '--per-day', '1000000000']
  const { out } = await folder.run(['keys', 'add', 'reader', ...plan])
  const begin = async () => {
    const process = folder.start(['up', '--node', node.url, '--listen', '127.0.0.1:0'])
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

/** The chain grows by some blocks, often on another branch, and the irreversible block rises, too. */
function goOn(forks: Forks, node: ForkNode, random: () => number): void {
  const head = growSome(forks, node.stand, random)
  const { lib } = node.stand
  node.stand = { head, lib: lib + Math.floor(random() * (head.made.height - lib)) }
}

/** Waits until a reader has the rows of the node's branch. */
async function settled({ list, rows, packed, done }: HeadReader, forks: Forks, node: ForkNode) {
  const { head, lib } = node.stand
  const line = aboveOf(head, forks.base.made.height).toReversed()
  const of = (isWanted: (height: number) => boolean) =>
    line.filter(({ made }) => isWanted(made.height)).flatMap(list.of)
  const expected = [of(height => height <= lib), of(height => height > lib)]
  const isSo = () => Bun.deepEquals([rows.map(list.shown), packed().map(list.shown)], expected)
  await Promise.race([until(isSo, 20), done])
}

// On Elasticsearch, kills of loaders are the matter of `test/load/loader-kills.test.ts`.
test('feeds: after kills of the service, readers lose and repeat no row, whatever branch its node is on then', async () => {
  const seed = seedOf(5)
  const random = seeded(seed)
  const forks = createForks(seed, BASE)
  const node = serveForks(forks, { head: forks.base, lib: BASE })
  await using folder = await cliFolder()
  const { ask, key, kill, kills } = await startService(folder, node)
  await until(async () => {
    const response = await ask(`/api/base/get-block-list?size=1&apikey=${key}`)
    const { data } = (await response.json()) as { readonly data?: { readonly total: number } }
    return data?.total === BASE + 1
  }, 20)
  let events = 0
  let killAt = Number.POSITIVE_INFINITY
  let killed: Promise<void> | undefined
  const onEvent = (): void => {
    events += 1
    if (events < killAt) return
    killAt = Number.POSITIVE_INFINITY
    killed = kill()
  }
  const isAway = (): boolean => kills() > 0
  const readers = busyLists({ forks, truth: branchTruth(forks) }).map(list =>
    headReader(list, { ask, key: () => key, random, onEvent, isAway }),
  )
  await Promise.all(readers.map(({ open }) => open))
  for (let round = 1; round <= ROUNDS || kills() === 0; round += 1) {
    // The kill happens during the events of this round.
    if (round % 2 === 0) killAt = events + 1 + Math.floor(random() * 60)
    goOn(forks, node, random)
    for (const reader of readers) await settled(reader, forks, node)
    await killed
  }
  for (const reader of readers) {
    reader.stop()
    await reader.done
  }
  expect(kills()).toBeGreaterThan(0)
  node.stop()
})
