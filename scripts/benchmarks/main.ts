import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Bench, fill, type Served, STORES, type StoreName, serve, sqlitePath } from './bench.ts'
import { calm, elasticAt, removeIndices } from './elastic.ts'
import { exportsSection } from './exports.ts'
import { type Floor, floors } from './floors.ts'
import { leanClient } from './lean-client.ts'
import { loadingSection } from './loading.ts'
import { loadLine, machine } from './machine.ts'
import { fixed, whole } from './measure.ts'
import { memorySection } from './memory.ts'
import { pagesSection } from './pages.ts'
import { BINARY, readThrough } from './processes.ts'
import { rankingsSection } from './rankings.ts'
import { runToEnd } from './run-to-end.ts'
import { sizesSection } from './sizes.ts'
import { storedText } from './stored.ts'
import { transactionsSection } from './transactions.ts'
import { type Verdict, verdictTable } from './verdicts.ts'

/**
 * The report of `scripts/bench`, Markdown on stdout: `main.ts --work FOLDER …`, with ELASTICSEARCH_URL. Absolute figures
 * are this machine's; what counts are the ratios, for both sides of each are measured in turns in this run.
 */

/** Sections on a filled store, behind the service. */
const STORED = {
  pages: { title: 'Pages at any depth', run: pagesSection },
  rankings: { title: 'Rankings', run: rankingsSection },
  transactions: { title: 'Transaction by hash', run: transactionsSection },
  memory: { title: 'Memory under load', run: memorySection },
  exports: { title: 'Exports', run: exportsSection },
} as const
const OTHERS = ['loading', 'sizes'] as const
const NAMES = [...(Object.keys(STORED) as (keyof typeof STORED)[]), ...OTHERS]

const ROWS = 10_000_000

const { values } = parseArgs({
  options: { work: { type: 'string' }, rows: { type: 'string' }, only: { type: 'string' } },
})
const usage = (problem: string): never => {
  console.error(`scripts/bench: ${problem}`)
  process.exit(2)
}
const rows = Number(values.rows ?? ROWS)
if (!Number.isInteger(rows) || rows < 4_000 || rows % 400 !== 0)
  usage(`--rows ${values.rows}: a multiple of 400 from 4,000 on.`)
const only = values.only?.split(',') ?? NAMES
for (const name of only)
  if (!(NAMES as readonly string[]).includes(name)) usage(`--only ${name}: sections are ${NAMES.join(', ')}.`)
const wants = (name: (typeof NAMES)[number]): boolean => only.includes(name)
const say = (text: string): void => console.log(`${text}\n`)

const elastic = elasticAt((process.env['ELASTICSEARCH_URL'] ?? '').replace(/\/+$/, ''))
const here = await machine(elastic)
const verdicts: Verdict[] = []
const work = values.work ?? usage('--work FOLDER is missing.')
const bench: Bench = {
  elastic,
  prefix: `bench-${crypto.randomUUID().slice(0, 8)}`,
  work,
  client: leanClient(work),
  seconds: rows < 1_000_000 ? 1 : 3,
  // Figures of so few rows say nothing anyway: whoever asks for them looks whether everything can be measured.
  rounds: rows < 100_000 ? 1 : 3,
  most: rows < 100_000 ? 100 : undefined,
  rows,
  holders: Math.max(1_000, Math.min(1_000_000, rows / 10)),
  sample: Math.min(rows, 200_000),
  calls: rows < 100_000 ? 30 : rows < 1_000_000 ? 300 : 2_000,
  elasticPid: here.elasticPid,
  judge: verdict => void verdicts.push(verdict),
}

/** One that fails says why and makes the end's code 1; the others are measured all the same. */
const section = async (title: string, run: () => Promise<string>): Promise<void> => {
  const text = await run().catch((error: unknown) => {
    process.exitCode = 1
    console.error(error)
    return `FAILED: ${error instanceof Error ? error.message : String(error)}`
  })
  say(`## ${title}\n\n${text}\n\n${loadLine()}`)
}

const stored = (Object.keys(STORED) as (keyof typeof STORED)[]).filter(wants)

/** Sections on a filled store; an index is removed after them, a file with the folder of the run. */
const onStore = async (name: StoreName, floor: readonly [Floor, Floor]): Promise<void> => {
  say(await storedText(bench, name))
  // Warm: in the system's cache as far as there is room.
  if (name === 'SQLite') await readThrough(sqlitePath(bench))
  const served: Served = await serve(bench, name)
  try {
    for (const each of stored) {
      const { title, run } = STORED[each]
      await section(`${title}, ${name}`, () => run(bench, served, floor))
    }
    say(`The service on ${name} began to listen after ${whole(served.service.startedMs)} ms.`)
  } finally {
    await served.stop()
  }
  if (name === 'Elasticsearch') await removeIndices(elastic, `${bench.prefix}-fill`)
}

const run = async (): Promise<void> => {
  say('# What was measured')
  say(here.line)
  say(
    `${whole(rows)} rows and transactions, ${whole(bench.holders)} holders, samples of ${whole(bench.sample)}; pages have 20 rows. ` +
      `The compiled file is ${fixed(statSync(BINARY).size / 1e6, 1)} MB. The client is ${bench.client.name}. Sides of a ratio take turns. Indices ${bench.prefix}-*.`,
  )
  const floor = await floors(bench)
  const filled = stored.length > 0 ? STORES : []
  // At once: one is bound by its only thread, the other one waits for Elasticsearch.
  const lines = await Promise.all(filled.map(name => fill(bench, name)))
  if (lines.length > 0) say(`${lines.join('\n')}\n${loadLine()}`)
  await calm(elastic, `${bench.prefix}-*`)
  for (const name of filled) await onStore(name, floor)
  if (wants('loading')) await section('Loading', () => loadingSection(bench))
  if (wants('sizes')) await section('Sizes', () => sizesSection(bench))
  if (verdicts.length > 0) await section('Promises', async () => verdictTable(verdicts))
}

await runToEnd(run, () => removeIndices(elastic, bench.prefix))
