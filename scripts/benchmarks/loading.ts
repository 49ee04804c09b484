import { join } from 'node:path'
import { type Bench, folderOf, STORES, type StoreName } from './bench.ts'
import { removeIndices } from './elastic.ts'
import { fixed, table, whole } from './measure.ts'
import { QUARTERS, quarters } from './memory.ts'
import { BINARY, cpuOf, running, serving } from './processes.ts'
import { rawElastic, rawSqlite } from './raw-bulk.ts'

const GENERATOR = join(import.meta.dir, '../../test/generator/main.ts')
/** A small world: its making is over soon, and each of its things is asked for again and again. */
const WORLD = ['--holders', '2000', '--voters', '500', '--cycle', '8192']
/** Blocks after the making of the world that are loaded before the measured ones. */
const WARM = 200

type Profile = {
  readonly name: 'sparse' | 'busy'
  readonly title: string
  readonly blocks: number
  /** The rate that is promised, in percent of a raw bulk's. */
  readonly leastOfRaw: number
}

/** Blocks of the measured run, for 10 M rows: a million near-empty ones, 20,000 of some 50 transactions. */
const profilesFor = ({ rows }: Bench): readonly Profile[] => [
  { name: 'sparse', title: 'near-empty blocks', blocks: Math.ceil(rows / 10), leastOfRaw: 25 },
  { name: 'busy', title: 'busy blocks', blocks: Math.ceil(rows / 500), leastOfRaw: 40 },
]

type Simulator = { readonly url: string; readonly dawn: number; readonly stop: () => Promise<void> }

const simulate = async (bench: Bench, { name, blocks }: Profile): Promise<Simulator> => {
  // The world's making takes as many blocks whatever the chain's length: asked for first.
  const start = (last: number) =>
    serving(bench.work, [process.execPath, GENERATOR, '--profile', name, ...WORLD, '--blocks', `${last}`])
  const first = await start(1)
  const dawn = Number(/first cycle: (\d+)/.exec(first.said)?.[1] ?? 0) + WARM
  await first.stop()
  const node = await start(dawn + blocks)
  return { url: node.url, dawn, stop: node.stop }
}

const nodeCpu = async (url: string): Promise<number> => {
  const cpu = (await (await fetch(`${url}/cpu`)).json()) as { user_seconds: number; system_seconds: number }
  return cpu.user_seconds + cpu.system_seconds
}

const loadProfile = async (bench: Bench, profile: Profile, store: StoreName) => {
  const folder = folderOf(bench, `${profile.name}-${store.toLowerCase()}`)
  const prefix = `${bench.prefix}-${profile.name}`
  const path = join(folder, 'store.sqlite')
  const name = store === 'SQLite' ? `sqlite:${path}` : `${bench.elastic.url}/${prefix}`
  const node = await simulate(bench, profile)
  const load = ['load', '--node', node.url, '--store', name, '--once']
  await running(folder, [BINARY, ...load, '--to', `${node.dawn}`])
  const cpu = async () => [await nodeCpu(node.url), (await cpuOf(bench.elasticPid)) ?? 0] as const
  const before = await cpu()
  const cost = await running(folder, [BINARY, ...load])
  const after = await cpu()
  await node.stop()
  const raw =
    store === 'SQLite'
      ? await rawSqlite(path, join(folder, 'copy.sqlite'), node.dawn)
      : await rawElastic(bench.elastic, { loaded: prefix, copy: `${prefix}-raw`, height: node.dawn })
  await removeIndices(bench.elastic, prefix)
  bench.judge({
    promise: `${store}, loading ${profile.title}`,
    least: profile.leastOfRaw,
    unit: '% of raw',
    measured: (100 * raw.seconds) / cost.seconds,
  })
  bench.judge({
    promise: `${store}, loading ${profile.title}: memory`,
    most: 450,
    unit: 'MB',
    measured: Math.max(...cost.memory),
  })
  return {
    rates: [
      profile.title,
      store,
      whole(profile.blocks),
      fixed(cost.seconds, 1),
      whole(profile.blocks / cost.seconds),
      whole(raw.documents / cost.seconds),
      whole(raw.documents / raw.seconds),
      `${whole((100 * raw.seconds) / cost.seconds)} %`,
      fixed(after[0] - before[0], 1),
      fixed(cost.cpu, 1),
      store === 'SQLite' || bench.elasticPid === undefined ? '–' : fixed(after[1] - before[1], 1),
    ],
    memory: [profile.title, store, ...quarters(cost.memory)],
  }
}

/** Loading a generated chain from a node in a process of its own, against a raw bulk of the very documents. */
export const loadingSection = async (bench: Bench): Promise<string> => {
  const loads: Awaited<ReturnType<typeof loadProfile>>[] = []
  for (const profile of profilesFor(bench))
    for (const store of STORES) loads.push(await loadProfile(bench, profile, store))
  return [
    table(
      [
        'blocks',
        'store',
        'count',
        'seconds',
        'blocks/s',
        'documents/s',
        'raw bulk /s',
        'of raw',
        'CPU s node',
        'loader',
        'Elasticsearch',
      ],
      loads.map(({ rates }) => rates),
    ),
    'Resident memory of the loader through the measured run, MB:',
    table(
      ['blocks', 'store', ...QUARTERS],
      loads.map(({ memory }) => memory),
    ),
  ].join('\n\n')
}
