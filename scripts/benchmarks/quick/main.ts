import { mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openRecording } from '#test/replay/recording.ts'
import { elasticAt, removeIndices } from '../elastic.ts'
import { type Floor, floors } from '../floors.ts'
import { type Asked, inTurns } from '../in-turns.ts'
import { leanClient } from '../lean-client.ts'
import { loadLine, machine } from '../machine.ts'
import { BINARY, serving } from '../processes.ts'
import { runToEnd } from '../run-to-end.ts'
import { depthRows, depthTable } from './depth.ts'
import { explorerTable } from './explorer.ts'
import { type Kind, kindsFor } from './kinds.ts'
import { type Measured, quickTable, scalingText } from './report.ts'
import {
  type Build,
  buildOf,
  forget,
  knowsThreads,
  loadStore,
  nameOf,
  type Side,
  startSide,
} from './sides.ts'

/**
 * The report of `scripts/bench --quick`, Markdown on stdout: the recorded chain on both stores, asked by a lean client.
 * `main.ts --work FOLDER [--against COMMIT]`, with ELASTICSEARCH_URL.
 */

const ROOT = join(import.meta.dir, '../../..')
const CHAIN = join(ROOT, 'test/chain/devnet')
const ALL_CLIENTS = [1, 8, 64] as const
const CLIENTS = 8
const SECONDS = 1
const ROUNDS = 3
/** Unmeasured: compilers at work. */
const WARM_SECONDS = 4
const STORES = ['SQLite', 'Elasticsearch'] as const
type StoreName = (typeof STORES)[number]

const { values } = parseArgs({ options: { work: { type: 'string' }, against: { type: 'string' } } })
const work = values.work
if (work === undefined) throw new Error('--work FOLDER is missing.')
const elastic = elasticAt((process.env['ELASTICSEARCH_URL'] ?? '').replace(/\/+$/, ''))
const prefix = `bench-${crypto.randomUUID().slice(0, 8)}`
const here = await machine(elastic)
const client = leanClient(work)

const builds = async (): Promise<readonly [Build, ...Build[]]> => {
  const own = (name: string): string => {
    const folder = join(work, name)
    mkdirSync(folder, { recursive: true })
    return folder
  }
  const now: Build = { name: 'this', binary: BINARY, folder: own('this') }
  if (values.against === undefined) return [now]
  const folder = own('against')
  return [now, { name: values.against, binary: await buildOf(ROOT, values.against, folder), folder }]
}

const sqliteIn = (folder: string): string => join(folder, 'store.sqlite')

/** Every build on a store of its own, with one thread, and with one for each core where it can; this one with kept answers, too. */
const sidesOn = async (name: StoreName, all: readonly Build[], node: string): Promise<readonly Side[]> => {
  const last = (await openRecording(CHAIN)).height
  const sides: Side[] = []
  for (const [at, build] of all.entries()) {
    const store = name === 'SQLite' ? `sqlite:${sqliteIn(build.folder)}` : `${elastic.url}/${prefix}-${at}`
    const key = await loadStore(build, { store, node, last })
    const counts = (await knowsThreads(build)) ? [1, availableParallelism()] : [undefined]
    for (const threads of counts) sides.push(await startSide(build, { store, key, threads }))
    if (at === 0) sides.push(await startSide(build, { store, key, threads: 1, keepsAnswers: true }))
  }
  return sides
}

const measureStore = async (
  store: StoreName,
  sides: readonly Side[],
  floor: readonly Floor[],
): Promise<readonly Measured[]> => {
  const [first] = sides
  if (first === undefined) return []
  const elasticPid = store === 'Elasticsearch' ? here.elasticPid : undefined
  const beside = store === 'Elasticsearch' ? floor : []
  const measure = async (
    { name: kind, paths }: Kind,
    clients: number,
    { floors, of }: { readonly floors: readonly Floor[]; readonly of: readonly Side[] },
  ): Promise<Measured> => {
    const asked = of.map(
      (side): Asked => ({
        name: nameOf(side),
        target: { url: side.service.url, paths: paths(side.key) },
        pid: side.service.pid,
      }),
    )
    const turns = { client, clients, seconds: SECONDS, rounds: ROUNDS, elasticPid }
    const figures = await inTurns([...floors, ...asked], turns)
    const count = floors.length
    return { store, kind, clients, floors: figures.slice(0, count), sides: figures.slice(count) }
  }
  const [page, ...others] = await kindsFor(first, CHAIN)
  for (const { service, key } of sides)
    await client.load(
      { url: service.url, paths: page.paths(key) },
      { clients: CLIENTS, seconds: WARM_SECONDS },
    )
  const measured: Measured[] = []
  for (const clients of ALL_CLIENTS)
    measured.push(await measure(page, clients, { floors: beside, of: sides }))
  const single = sides.filter(({ threads = 1 }) => threads === 1)
  for (const kind of others) measured.push(await measure(kind, CLIENTS, { floors: [], of: single }))
  return measured
}

const run = async (): Promise<void> => {
  console.log(`# A quick look\n\n${here.line} The client is ${client.name}.\n`)
  const all = await builds()
  const floor = await floors({ elastic, prefix })
  const node = await serving(work, [join(ROOT, 'scripts/replay'), CHAIN, '--listen', '127.0.0.1:0'])
  const measured: Measured[] = []
  const depths: (readonly string[])[] = []
  for (const name of STORES) {
    const sides = await sidesOn(name, all, node.url)
    measured.push(...(await measureStore(name, sides, floor)))
    const [first] = sides
    if (first !== undefined) depths.push(...(await depthRows(name, first)))
    for (const { service } of sides) await service.stop()
  }
  console.log(`${quickTable(measured)}\n\n${scalingText(measured.filter(({ clients }) => clients === 64))}\n`)
  console.log(`## Pages of lists at any depth\n\n${depthTable(depths)}\n`)
  const [{ folder }] = all
  console.log(`## Pages of the explorer, in the process\n\n${await explorerTable(sqliteIn(folder))}\n`)
  console.log(loadLine())
}

await runToEnd(run, async () => {
  await removeIndices(elastic, prefix)
  if (values.against !== undefined) await forget(ROOT, join(work, 'against'))
})
