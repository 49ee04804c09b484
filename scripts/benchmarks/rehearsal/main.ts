import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { loadLine } from '../machine.ts'
import { fixed } from '../measure.ts'
import { BINARY, outputOf } from '../processes.ts'
import { archiveRows } from './archive.ts'
import { copyRows, mergeRows, verifyRows } from './copies.ts'
import { loadRows } from './interval.ts'
import { type Kept, keptIn } from './kept.ts'
import { pageRows } from './pages.ts'
import { type Chain, type Place, placeOf } from './place.ts'
import { type Row, tableOf } from './row.ts'
import { watchedLoad } from './watched-load.ts'

/** The program of `scripts/rehearse`, which measures for operators of mainnet on a generated chain of any size. */

/** Average number of transactions in a busy block. */
const TRANSACTIONS = 50

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
    blocks: { type: 'string', default: '20000000' },
    transactions: { type: 'string', default: '5000000' },
    minutes: { type: 'string' },
    holders: { type: 'string', default: '20000' },
    every: { type: 'string', default: '30' },
    'partition-documents': { type: 'string' },
  },
})
const usage = (problem: string): never => {
  console.error(`scripts/rehearse: ${problem} See --help.`)
  process.exit(2)
}
const numberOf = (name: 'blocks' | 'transactions' | 'minutes' | 'holders' | 'every'): number => {
  const number = Number(values[name])
  return Number.isFinite(number) && number >= 0 ? number : usage(`--${name} ${values[name]} is no number.`)
}
const folder = resolve(values.folder ?? usage('--folder DIR is missing.'))
const { store, 'partition-documents': partition } = values
if (store !== 'sqlite' && !/^https?:\/\/[^/]+\/[^/]+$/.test(store))
  usage(`--store ${store} is neither sqlite nor the URL of Elasticsearch with a prefix.`)
mkdirSync(folder, { recursive: true })

const heightOf = async ({ store: name }: Place): Promise<number> =>
  Number(/^height\s+(\d+)/m.exec(await outputOf(folder, [BINARY, 'status', '--store', name]))?.[1])

const loaded = async (place: Place, kept: Kept, blocks: number): Promise<number> => {
  const done = kept.intervals.at(-1)?.height ?? -1
  if (done < blocks)
    await watchedLoad(place, kept, {
      to: blocks,
      every: numberOf('every'),
      most: values.minutes === undefined ? undefined : numberOf('minutes') * 60,
      more: partition === undefined ? [] : ['--partition-documents', partition],
      say: line => console.log(`${place.chain}: ${line}`),
    })
  return heightOf(place)
}

/** Runs all steps on one chain; steps completed by an earlier run are not repeated. */
const rehearsed = async (chain: Chain, blocks: number): Promise<readonly Row[]> => {
  const place = await placeOf(folder, store, chain)
  const ofArchive = keptIn(join(folder, `${chain}-archive.json`))
  const kept = keptIn(join(folder, `${chain}-${store === 'sqlite' ? 'sqlite' : 'elasticsearch'}.json`))
  const size = { blocks, holders: numberOf('holders') }
  const rows = [...(await ofArchive.step('archive', blocks, () => archiveRows(place, size)))]
  const height = await loaded(place, kept, blocks)
  rows.push(...loadRows(kept.intervals))
  const steps = { pages: pageRows, merge: mergeRows, verify: verifyRows, copies: copyRows }
  for (const [name, measure] of Object.entries(steps)) {
    console.log(`${chain}: ${name} at block ${height} ${loadLine()}`)
    rows.push(...(await kept.step(name, height, () => measure(place))))
  }
  return [...rows, ...ratios(rows)]
}

/** The cost of restoring in relation to loading. */
const ratios = (rows: readonly Row[]): readonly Row[] => {
  const [load, restore] = ['load', 'restore'].map(name => rows.find(({ step }) => step === name))
  const all = (row: Row | undefined): number => (row?.cpu ?? 0) + (row?.elasticCpu ?? 0)
  const times = (one = 0, other = 0): string => fixed(one / other, 1)
  return [
    {
      step: `restore against load: ${times(load?.seconds, restore?.seconds)} × the time, ${times(all(load), all(restore))} × the CPU`,
    },
  ]
}

for (const [chain, blocks] of [
  ['sparse', numberOf('blocks')],
  ['busy', Math.ceil(numberOf('transactions') / TRANSACTIONS)],
] as const) {
  if (blocks === 0) continue
  const rows = await rehearsed(chain, blocks)
  console.log(`\n${chain} blocks on ${store === 'sqlite' ? 'SQLite' : 'Elasticsearch'}:\n\n${tableOf(rows)}\n`)
}
