import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { answersText } from './answers.ts'
import { type Bench, type Place, placeOf, STORES, type StoreName } from './bench.ts'
import { type Chain, generated, isTrial, recorded } from './chains.ts'
import { elasticAt, removeIndices } from './elastic.ts'
import { explorerTable } from './explorer.ts'
import { exportsText } from './exports.ts'
import { floors } from './floors.ts'
import type { TargetRun } from './in-turns.ts'
import { kindsFor } from './kinds.ts'
import { leanClient } from './lean-client.ts'
import { loadChain, loadingText } from './loading.ts'
import { loadLine, machine } from './machine.ts'
import { fixed, whole } from './measure.ts'
import { BINARY, ROOT } from './processes.ts'
import { runToEnd } from './run-to-end.ts'
import { type Build, buildOf, forget, type Side, startSides, THIS } from './sides.ts'
import { type Verdict, verdictTable } from './verdicts.ts'

/**
 * The report of `scripts/bench`, Markdown on stdout: `main.ts --work FOLDER …`, with ELASTICSEARCH_URL. Absolute
 * figures depend on this machine. The ratios do not: both sides of each are measured in turns in this run.
 */

const BLOCKS = 20_000

const { values } = parseArgs({
  options: {
    work: { type: 'string' },
    blocks: { type: 'string' },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    against: { type: 'string' },
  },
})
const usage = (problem: string): never => {
  console.error(`scripts/bench: ${problem}`)
  process.exit(2)
}
const blocks = Number(values.blocks ?? BLOCKS)
if (!Number.isInteger(blocks) || blocks < 10) usage(`--blocks ${values.blocks}: a whole number from 10 on.`)
const work = values.work ?? usage('--work FOLDER is missing.')
const { quick, only, against } = values
if (only !== undefined && (only !== 'loading' || quick))
  usage(`--only ${only}: it is --only loading, and not with --quick.`)

const elastic = elasticAt((process.env['ELASTICSEARCH_URL'] ?? '').replace(/\/+$/, ''))
const here = await machine(elastic)
const verdicts: Verdict[] = []
const trial = isTrial(blocks)
const bench: Bench = {
  elastic,
  prefix: `bench-${crypto.randomUUID().slice(0, 8)}`,
  work,
  client: await leanClient(work),
  seconds: quick || trial ? 1 : 3,
  rounds: trial ? 1 : 3,
  most: trial ? 100 : undefined,
  elasticPid: here.elasticPid,
  judge: verdict => void verdicts.push(verdict),
}

const say = (text: string): void => console.log(`${text}\n`)

/** Runs a section. A failed section prints the reason and sets exit code 1; the other sections still run. */
const section = async (title: string, run: () => Promise<string>): Promise<void> => {
  const text = await run().catch((error: unknown) => {
    process.exitCode = 1
    console.error(error)
    return `FAILED: ${error instanceof Error ? error.message : String(error)}`
  })
  say(`## ${title}\n\n${text}\n\n${loadLine()}`)
}

/** Loads a chain with each build, reports the cost for this build, and serves the loaded data. */
const loadAll = async (chain: Chain, kind: StoreName, builds: readonly Build[]) => {
  const node = await chain.start(work)
  const loaded: { readonly build: Build; readonly place: Place }[] = []
  for (const [at, build] of builds.entries()) {
    const place = placeOf(bench, kind, `${chain.name}-${at}`)
    loaded.push({ build, place })
    const load = await loadChain(bench, { place, node, binary: build.binary })
    if (at === 0 && chain !== recorded)
      await section(`Loading ${chain.title}, ${kind}`, () => loadingText(bench, chain, { place, node, load }))
  }
  await node.stop()
  return loaded
}

/** Floors of rows loaded into Elasticsearch, which is therefore the first store. */
let floor: readonly TargetRun[] = []

const onStore = async (chain: Chain, kind: StoreName, builds: readonly Build[]): Promise<void> => {
  const loaded = await loadAll(chain, kind, builds)
  const [first] = loaded
  if (only === 'loading') return
  if (first !== undefined && kind === 'Elasticsearch') floor = await floors(bench, first.place.path)
  const sides: Side[] = []
  for (const { build, place } of loaded) sides.push(...(await startSides(work, build, { place, more: quick })))
  const [side] = sides
  if (side === undefined || first === undefined) return
  await section(`Answers, ${kind}`, async () => {
    const kinds = await kindsFor(side, chain, quick)
    return answersText(bench, { store: kind, sides, kinds, floors: floor })
  })
  if (!quick) await section(`Exports, ${kind}`, () => exportsText(bench, { store: kind, side, chain }))
  bench.judge({
    promise: `${kind}, serving memory`,
    most: 250,
    unit: 'MB',
    measured: Math.max(...side.memory),
  })
  for (const each of sides) await each.stop()
  if (quick && kind === 'SQLite')
    await section('Pages of the explorer, in the process', () => explorerTable(first.place.path))
}

const run = async (): Promise<void> => {
  say(`# What was measured\n\n${here.line}`)
  say(
    `${quick ? 'The recorded chain' : `${whole(blocks)} busy blocks`}; pages have 20 rows. The compiled file is ` +
      `${fixed(statSync(BINARY).size / 1e6, 1)} MB. Sides of a ratio take turns. Indices ${bench.prefix}-*.`,
  )
  const builds = against === undefined ? [THIS] : [THIS, await buildOf(ROOT, against, work)]
  const chain = quick ? recorded : generated('busy', blocks)
  for (const kind of STORES) await onStore(chain, kind, builds)
  if (!quick) for (const kind of STORES) await loadAll(generated('sparse', blocks * 10), kind, [THIS])
  await section('Promises', async () => verdictTable(verdicts))
}

await runToEnd(run, async () => {
  await removeIndices(elastic, bench.prefix)
  if (against !== undefined) await forget(ROOT, work)
})
