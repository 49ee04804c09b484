import { join } from 'node:path'
import { listOf } from '#indices/list.ts'
import { type Place, readAnswer, type Service, startService, writePath } from '../place.ts'
import { startServer } from '../processes.ts'
import { formatTable, type TableRow } from '../report.ts'
import { createClient, measureInTurns, type Target } from '../requests.ts'

const SIZE = 20
/** Maximum number of different requests of a target; more would only fill the client's memory. */
const MAX_REQUESTS = 1_000
/** A prime, so that its multiples visit all numbers below `count` exactly once, in a scattered order. */
const STRIDE = 7_368_787
/** The n-th of `count` pages in a scattered order without repetition. */
const pickPage = (n: number, count: number): number => 1 + ((n * STRIDE + 12_345) % count)

/** Pages of 20 rows, pages of a ranking and transactions by hash, compared with a bare server of the same rows. */
export async function measurePages(place: Place): Promise<string> {
  const { chain, folder, elastic, path, options } = place
  const service = await startService(place)
  const bare = ['--path', path, '--list', listOf.account(chain.hub), ...(elastic ? ['--elastic', elastic.url] : [])]
  const floor = await startServer(folder, [process.execPath, join(import.meta.dir, '../bare-server.ts'), ...bare])
  const rows = await findPages(service, `module=account&action=get-account-tx&account=${chain.hub}`)
  const holders = await findPages(service, `module=token&action=get-token-holder&token=${chain.token}`)
  const hashes = await findHashes(service)
  const ask = (name: string, queries: readonly string[]): Target => ({
    ...{ name, url: service.url, pid: service.pid },
    paths: queries.map(query => writePath(service, query)),
  })
  const random = { url: floor.url, pid: floor.pid, paths: rows.random.map(page => `/?page=${page}`) }
  const targets: readonly Target[] = [
    { name: 'floor: a bare server, random pages', ...random },
    ask(`first page of ${chain.hub}`, rows.write([1])),
    ask('random pages', rows.write(rows.random)),
    ask('last page', rows.write([rows.last])),
    ask(`first page of the holders of ${chain.token}`, holders.write([1])),
    ask('random pages', holders.write(holders.random)),
    ask('a transaction by hash', hashes),
  ]
  const { clients, seconds, rounds } = options
  const turns = { client: await createClient(folder), seconds, rounds, elasticPid: elastic?.pid }
  const measured: TableRow[] = []
  for (const count of clients) measured.push(...(await measureInTurns(targets, { ...turns, clients: count })))
  await floor.stop()
  await service.stop()
  return `${formatTable(measured)}\n\nThe service's memory: ${Math.round(Math.max(...service.memory))} MB at most.`
}

async function findPages(service: Service, query: string) {
  const { total } = await readAnswer<{ readonly total: number }>(service, `${query}&size=1`)
  // The last page may have fewer rows.
  const last = Math.max(1, Math.floor(total / SIZE))
  const random = Array.from({ length: Math.min(MAX_REQUESTS, last) }, (_, n) => pickPage(n, last))
  const write = (pages: readonly number[]) => pages.map(page => `${query}&size=${SIZE}&page=${page}`)
  return { last, random, write }
}

/** Queries for transactions from all parts of the chain. */
async function findHashes(service: Service): Promise<readonly string[]> {
  const { random, write } = await findPages(service, 'module=base&action=get-transaction-list')
  type Page = { readonly transactions: readonly { readonly tx_hash: string }[] }
  const queries: string[] = []
  for (const query of write(random.slice(0, MAX_REQUESTS / SIZE)))
    for (const { tx_hash } of (await readAnswer<Page>(service, query)).transactions)
      queries.push(`module=transaction&action=get-transaction-detail&tx_hash=${tx_hash}`)
  return queries
}
