import { mkdirSync, statSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { fixed, memoryOf, table, whole } from './measure.ts'
import { BUSIEST, pageRows } from './pages.ts'
import { BINARY, RECORDING, running, serving, unlimitedKey } from './processes.ts'
import { rawElastic, rawSqlite } from './raw-bulk.ts'

/**
 * The report of `scripts/bench`: `main.ts WORK`, with ELASTICSEARCH_URL. Absolute figures are this machine's; what
 * counts are the ratios, for both sides of each are measured in this run.
 */
const [work = '.'] = process.argv.slice(2)
const elastic = process.env['ELASTICSEARCH_URL'] ?? ''
const prefix = `bench-${crypto.randomUUID().slice(0, 8)}`
const folder = (name: string): string => {
  const path = join(work, name)
  mkdirSync(path, { recursive: true })
  return path
}
const say = (text: string): void => console.log(`${text}\n`)

const BLOCKS = 4_852
const RECORDS = 89_137

const [cpu] = cpus()
say(
  `iostlens benchmark: ${cpus().length} × ${cpu?.model}, load ${fixed(loadavg()[0] ?? 0)}, Bun ${Bun.version}; client, node, service and Elasticsearch share these cores.`,
)

const node = await serving(folder('node'), ['replay', RECORDING, '--listen', '127.0.0.1:0'])
const storeOf = {
  sqlite: `sqlite:${join(folder('sqlite'), 'store.sqlite')}`,
  elastic: `${elastic}/${prefix}`,
}
const loads: (readonly string[])[] = []
const ratio = async (
  name: keyof typeof storeOf,
  raw: () => Promise<{ seconds: number; documents: number }>,
) => {
  const load = await running(folder(name), ['load', '--node', node.url, '--store', storeOf[name], '--once'])
  const floor = await raw()
  loads.push([
    name,
    fixed(load.seconds, 1),
    whole(BLOCKS / load.seconds),
    whole(RECORDS / load.seconds),
    whole(floor.documents / load.seconds),
    whole(floor.documents / floor.seconds),
    fixed(floor.seconds / load.seconds),
    fixed(load.cpu, 1),
    whole(load.memory),
  ])
}
await ratio('sqlite', () =>
  rawSqlite(join(work, 'sqlite/store.sqlite'), join(folder('copy'), 'store.sqlite')),
)
await ratio('elastic', () => rawElastic(elastic, prefix, `${prefix}-raw`))
await node.stop()
say(
  `Loading the recorded chain over HTTP (${whole(BLOCKS)} blocks, ${whole(RECORDS)} records) against a raw bulk of the documents it ends in:`,
)
say(
  table(
    [
      'store',
      'seconds',
      'blocks/s',
      'records/s',
      'documents/s',
      'raw bulk documents/s',
      'ratio',
      'CPU s',
      'most RSS MB',
    ],
    loads,
  ),
)

const pages: (readonly string[])[] = []
const memory: (readonly string[])[] = []
for (const name of ['sqlite', 'elastic'] as const) {
  const service = await serving(folder(name), ['serve', '--store', storeOf[name], '--listen', '127.0.0.1:0'])
  const key = await unlimitedKey(folder(name), storeOf[name])
  const emptySearch = async (): Promise<unknown> =>
    (
      await fetch(`${elastic}/${prefix}-records/_search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query":{"range":{"places":{"gte":1,"lte":1}}},"track_total_hits":false}',
      })
    ).json()
  const health = async (): Promise<unknown> => (await fetch(`${service.url}/health`)).text()
  const floor =
    name === 'sqlite' ? { name: '/health', ask: health } : { name: 'empty search', ask: emptySearch }
  pages.push(...(await pageRows(name, { url: service.url, key }, floor)))
  memory.push([name, whole(service.startedMs), whole(await memoryOf(service.pid))])
  await service.stop()
}
say(`get-account-tx of ${BUSIEST}, 20 rows a page, over HTTP from the compiled file:`)
say(
  table(
    ['store', 'what', 'p50 ms', 'p99 ms', '1 client /s', '8 clients /s', 'p50 ÷ floor', '8 clients ÷ floor'],
    pages,
  ),
)
say(`The compiled file is ${fixed(statSync(BINARY).size / 1e6, 1)} MB. Serving:`)
say(table(['store', 'start to listening ms', 'RSS MB after these requests'], memory))
const mine = Object.keys((await (await fetch(`${elastic}/${prefix}*`)).json()) as object)
if (mine.length > 0) await fetch(`${elastic}/${mine.join(',')}`, { method: 'DELETE' })
