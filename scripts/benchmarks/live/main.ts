import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { elasticAt, removeIndices } from '../elastic.ts'
import { loadLine, machine } from '../machine.ts'
import { type Shares, table, whole } from '../measure.ts'
import { BINARY, type Running, serving, unlimitedKey } from '../processes.ts'
import { runToEnd } from '../run-to-end.ts'
import { FEED_COLUMNS, type Followed, feedsRow } from './feeds.ts'
import { freshness } from './freshness.ts'
import { growingNode } from './growing-node.ts'

/**
 * The report of `scripts/bench --live`, Markdown on stdout, for a chain that grows by two busy blocks a
 * second, on both stores. It measures the age of a block when answers contain it, and the cost of readers of
 * feeds. `main.ts --work FOLDER [--readers N]`, with ELASTICSEARCH_URL.
 */

const { values } = parseArgs({ options: { work: { type: 'string' }, readers: { type: 'string' } } })
const work = values.work
if (work === undefined) throw new Error('--work FOLDER is missing.')
const readers = Number(values.readers ?? 5_000)
if (!Number.isInteger(readers) || readers < 1) throw new Error(`--readers ${values.readers} is no number.`)

const BLOCKS = 120
const SECONDS = 30
const STORES = ['SQLite', 'Elasticsearch'] as const
const elastic = elasticAt((process.env['ELASTICSEARCH_URL'] ?? '').replace(/\/+$/, ''))
const prefix = `bench-${crypto.randomUUID().slice(0, 8)}`
const here = await machine(elastic)
const node = growingNode()

const storeOf = (name: (typeof STORES)[number]): string =>
  name === 'SQLite' ? `sqlite:${join(work, 'live.sqlite')}` : `${elastic.url}/${prefix}-live`

const ready = async ({ url }: Running): Promise<void> => {
  while ((await fetch(`${url}/ready`)).status !== 200) await Bun.sleep(100)
}

const cells = ({ p50, p99 }: Shares): readonly string[] => [`${whole(p50)} ms`, `${whole(p99)} ms`]

const live = async (name: (typeof STORES)[number]) => {
  const store = storeOf(name)
  const folder = join(work, name)
  mkdirSync(folder, { recursive: true })
  const address = ['--listen', '127.0.0.1:0', '--store', store, '--node', node.url, '--ready-needs-node']
  const loader = await serving(folder, [BINARY, 'up', ...address])
  await ready(loader)
  const key = await unlimitedKey(folder, store)
  return { folder, address, loader, key }
}

const freshnessRow = async (name: (typeof STORES)[number]): Promise<readonly string[]> => {
  const { loader, key } = await live(name)
  const asked = { url: loader.url, key }
  const irreversible = await freshness(node, asked, { reach: 'irreversible', blocks: BLOCKS })
  const head = await freshness(node, asked, { reach: 'head', blocks: BLOCKS })
  await loader.stop()
  return [name, ...cells(irreversible), ...cells(head)]
}

/**
 * The feeds to measure: each reader follows one of many accounts, or all readers follow the list that grows fastest.
 */
const followedBy = async (url: string, key: string): Promise<readonly Followed[]> => {
  const answer = await fetch(`${url}/api/base/get-wealth-list?size=100`, { headers: { 'x-api-key': key } })
  const { data } = (await answer.json()) as { readonly data: { readonly wealth: readonly Account[] } }
  const accounts = data.wealth.map(
    ({ account }) => `/api/account/get-account-tx?account=${encodeURIComponent(account)}&format=sse`,
  )
  const blocks = ['/api/base/get-block-list?format=sse']
  const above = (paths: readonly string[]) => paths.map(path => `${path}&head=1`)
  return [
    { name: `of ${accounts.length} accounts`, paths: accounts },
    { name: 'the same with head=1', paths: above(accounts) },
    { name: 'of the list of blocks', paths: blocks },
    { name: 'the same with head=1', paths: above(blocks) },
  ]
}
type Account = { readonly account: string }

const feedsTable = async (): Promise<string> => {
  const { folder, address, loader, key } = await live('SQLite')
  const rows: (readonly string[])[] = []
  for (const followed of await followedBy(loader.url, key)) {
    // Each measurement has a new process, free of the memory of former readers.
    const limits = ['--max-feeds', String(readers), '--max-feeds-per-key', String(readers)]
    const service = await serving(folder, [BINARY, 'serve', ...address, ...limits])
    await ready(service)
    rows.push(await feedsRow(service, followed, { readers, seconds: SECONDS, key }))
    await service.stop()
  }
  await loader.stop()
  return table(FEED_COLUMNS, rows)
}

const run = async (): Promise<void> => {
  console.log(`# A chain that grows\n\n${here.line}\n`)
  const heading = ['store', 'irreversible, p50', 'p99', 'head=1, p50', 'p99']
  const rows: (readonly string[])[] = []
  for (const name of STORES) rows.push(await freshnessRow(name))
  console.log(
    `From the node knowing a block until an answer has it, ${BLOCKS} blocks each:\n\n${table(heading, rows)}\n\n${loadLine()}\n`,
  )
  console.log(`Readers of feeds on one process, SQLite, ${SECONDS} s each:\n\n${await feedsTable()}\n\n${loadLine()}`)
}

await runToEnd(run, async () => {
  node.stop()
  await removeIndices(elastic, prefix)
})
