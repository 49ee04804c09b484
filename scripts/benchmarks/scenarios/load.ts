import { availableParallelism } from 'node:os'
import { type Place, readBytes } from '../place.ts'
import { BINARY, readCpu, runCommand } from '../processes.ts'
import { formatTable, type TableRow } from '../report.ts'

/** Number of parts of a load, whose rates should be similar; a chain of fewer blocks is loaded in one. */
const PARTS = 4
const MIN_BLOCKS = 8_000

/** Loads a chain from its archive in parts, each by a process of its own. What is loaded already is left out. */
export async function measureLoad(place: Place): Promise<string> {
  const { folder, store, chain, elastic } = place
  const parts = chain.last < MIN_BLOCKS ? 1 : PARTS
  const rows: TableRow[] = []
  for (let part = 1; part <= parts; part++) {
    const to = Math.floor((chain.last * part) / parts)
    const before = await readCounts(place)
    if (before.height >= to) continue
    const elasticCpu = await readCpu(elastic?.pid)
    const load = ['load', '--node', `archive:${chain.archive}`, '--store', store, '--once', '--to', `${to}`]
    const cost = await runCommand(folder, [BINARY, ...load, '--threads', `${availableParallelism()}`])
    const documents = (await readCounts(place)).documents - before.documents
    const spent = elasticCpu === undefined ? undefined : ((await readCpu(elastic?.pid)) ?? 0) - elasticCpu
    const blocks = to - before.height
    rows.push({
      ...{ 'to block': to, documents, seconds: cost.seconds, 'blocks/s': blocks / cost.seconds },
      ...{ 'documents/s': documents / cost.seconds, 'CPU µs a block': (1e6 * cost.cpu) / blocks },
      ...{ 'CPU µs a document': (1e6 * cost.cpu) / documents },
      'of Elasticsearch': spent === undefined ? undefined : (1e6 * spent) / documents,
      ...{ 'peak MB': cost.peak, 'store MB': (await readBytes(place)) / 1e6 },
    })
  }
  return rows.length === 0 ? 'All blocks were loaded already.' : formatTable(rows)
}

/** Height and documents of history of a store; it may not exist yet. */
async function readCounts({ folder, store }: Place): Promise<{ readonly height: number; readonly documents: number }> {
  const child = Bun.spawn([BINARY, 'status', '--json', '--store', store], {
    cwd: folder,
    stderr: 'ignore',
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) return { height: -1, documents: 0 }
  type Status = { readonly height: number; readonly holds: { readonly transactions: number; readonly records: number } }
  const { height, holds } = JSON.parse(text) as Status
  return { height, documents: height + 1 + holds.transactions + holds.records }
}
