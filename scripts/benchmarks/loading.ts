import { type Bench, type Place, placeOf } from './bench.ts'
import type { Chain, ChainNode } from './chains.ts'
import { fixed, table, whole } from './measure.ts'
import { type Cost, cpuOf, running } from './processes.ts'
import { rawElastic, rawSqlite } from './raw-bulk.ts'

/** The cost of loading the measured blocks of a chain. */
export type Load = Cost & { readonly nodeCpu: number; readonly elasticCpu: number | undefined }

/** Loads a chain from a node in a process of its own; the measurement begins after the node's `warm` blocks. */
export const loadChain = async (
  bench: Bench,
  { place, node, binary }: { readonly place: Place; readonly node: ChainNode; readonly binary: string },
): Promise<Load> => {
  const load = [binary, 'load', '--node', node.url, '--store', place.store, '--once']
  await running(bench.work, [...load, '--to', `${node.warm}`])
  const elasticPid = place.kind === 'Elasticsearch' ? bench.elasticPid : undefined
  const before = [await nodeCpu(node), await cpuOf(elasticPid)] as const
  const cost = await running(bench.work, load)
  const after = [await nodeCpu(node), await cpuOf(elasticPid)] as const
  return {
    ...cost,
    nodeCpu: after[0] - before[0],
    elasticCpu: after[1] === undefined || before[1] === undefined ? undefined : after[1] - before[1],
  }
}

/** CPU seconds used so far by the node of a generated chain; 0 for a recorded chain. */
const nodeCpu = async ({ url }: ChainNode): Promise<number> => {
  const answer = await fetch(`${url}/cpu`)
  if (!answer.ok) return 0
  const cpu = (await answer.json()) as { user_seconds: number; system_seconds: number }
  return cpu.user_seconds + cpu.system_seconds
}

const RATES = [
  ...['seconds', 'blocks/s', 'documents/s', 'raw bulk /s', 'of raw', 'CPU s node', 'loader'],
  ...['Elasticsearch', 'MB at most'],
]

/** Compares loading with a raw bulk of the same documents. */
export const loadingText = async (
  bench: Bench,
  chain: Chain,
  { place, node, load }: { readonly place: Place; readonly node: ChainNode; readonly load: Load },
): Promise<string> => {
  const { kind, path } = place
  const copy = placeOf(bench, kind, `${chain.name}-raw`).path
  const raw =
    kind === 'SQLite'
      ? await rawSqlite(path, copy, node.warm)
      : await rawElastic(bench.elastic, { loaded: path, copy, height: node.warm })
  const memory = Math.max(0, ...load.memory)
  const promise = `${kind}, loading ${chain.title}`
  const ofRaw = (100 * raw.seconds) / load.seconds
  bench.judge({ promise, least: chain.leastOfRaw, unit: '% of raw', measured: ofRaw })
  bench.judge({ promise: `${promise}: memory`, most: 450, unit: 'MB', measured: memory })
  return table(RATES, [
    [
      fixed(load.seconds, 1),
      whole((node.last - node.warm) / load.seconds),
      whole(raw.documents / load.seconds),
      whole(raw.documents / raw.seconds),
      `${whole(ofRaw)} %`,
      fixed(load.nodeCpu, 1),
      fixed(load.cpu, 1),
      load.elasticCpu === undefined ? '–' : fixed(load.elasticCpu, 1),
      whole(memory),
    ],
  ])
}
