import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { CHAINS, prepareChain } from './chain.ts'
import { createPlace, type Place, removeIndices, STORES } from './place.ts'
import { endProcesses } from './processes.ts'
import { describeLoad, describeMachine, formatTable } from './report.ts'
import { measureCopies } from './scenarios/copies.ts'
import { measureExplorer } from './scenarios/explorer.ts'
import { measureExports } from './scenarios/exports.ts'
import { measureLive } from './scenarios/live.ts'
import { measureLoad } from './scenarios/load.ts'
import { measurePages } from './scenarios/pages.ts'

/** The report of `scripts/bench`, Markdown on stdout. Sides of a ratio take turns, so ratios compare between machines. */

const SCENARIOS: Readonly<Record<string, (place: Place) => Promise<string>>> = {
  load: measureLoad,
  pages: measurePages,
  exports: measureExports,
  explorer: measureExplorer,
  copies: measureCopies,
  live: measureLive,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    store: { type: 'string', multiple: true, default: [...STORES] },
    chain: { type: 'string', default: 'busy' },
    blocks: { type: 'string', default: '20000' },
    holders: { type: 'string', default: '20000' },
    clients: { type: 'string', default: '1,8,64' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    readers: { type: 'string', default: '5000' },
    folder: { type: 'string' },
  },
})

function refuseUsage(problem: string): never {
  console.error(`scripts/bench: ${problem} See --help.`)
  process.exit(2)
}

function readNumber(name: string, text: string): number {
  const number = Number(text)
  return Number.isInteger(number) && number > 0 ? number : refuseUsage(`--${name} ${text} is no number.`)
}

function readChoice<T extends string>(choices: readonly T[], text: string): T {
  return choices.find(choice => choice === text) ?? refuseUsage(`'${text}' is none of ${choices.join(', ')}.`)
}

const wanted = positionals.map(name => readChoice(Object.keys(SCENARIOS), name))
const stores = values.store.map(name => readChoice(STORES, name))
const chainName = readChoice(CHAINS, values.chain)
const size = { blocks: readNumber('blocks', values.blocks), holders: readNumber('holders', values.holders) }
const options = {
  clients: values.clients.split(',').map(text => readNumber('clients', text)),
  seconds: readNumber('seconds', values.seconds),
  rounds: readNumber('rounds', values.rounds),
  readers: readNumber('readers', values.readers),
}
const isKept = values.folder !== undefined
const folder = isKept
  ? resolve(values.folder ?? '')
  : mkdtempSync(join(process.env['BENCH_FOLDER'] ?? '/var/tmp', 'iostlens-bench-'))
mkdirSync(folder, { recursive: true })
const prefix = `bench-${Bun.hash(folder).toString(36)}`
/** Elasticsearch in use, whose indices are removed at the end. */
let elastic: string | undefined

/** Runs a section. A failed one prints the reason and sets exit code 1; the others still run. */
async function printSection(title: string, measure: () => Promise<string>): Promise<void> {
  const text = await measure().catch((error: unknown) => {
    process.exitCode = 1
    console.error(error)
    return `FAILED: ${error instanceof Error ? error.message : String(error)}`
  })
  console.log(`## ${title}\n\n${text}\n\n${describeLoad()}\n`)
}

async function run(): Promise<void> {
  console.log(`# What was measured\n\n${describeMachine()}\n`)
  const isUsed = wanted.length === 0 || wanted.some(name => name !== 'live')
  const { chain, cost } = await prepareChain(folder, chainName, { ...size, isUsed })
  if (cost !== undefined) await printSection(`archive write, ${chain.name}`, async () => formatTable([cost]))
  for (const kind of stores) {
    const place = await createPlace(kind, { chain, folder, prefix, options })
    elastic ??= place.elastic?.url
    // Each scenario but `live` reads the loaded chain.
    const names = Object.keys(SCENARIOS).filter(
      name => wanted.length === 0 || wanted.includes(name) || (name === 'load' && isUsed),
    )
    for (const name of names)
      await printSection(`${name}, ${chain.name}, ${kind}`, () => (SCENARIOS[name] as typeof measureLoad)(place))
  }
}

/** Ends the run and removes its data, also after a signal. */
async function finish(): Promise<never> {
  await endProcesses()
  if (elastic !== undefined && !isKept) await removeIndices(elastic, prefix)
  if (!isKept) rmSync(folder, { recursive: true, force: true })
  process.exit()
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    process.exitCode = 1
    void finish()
  })
try {
  await run()
} catch (error) {
  process.exitCode = 1
  console.error(error)
}
await finish()
