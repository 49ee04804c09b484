import type { Bench, Served } from './bench.ts'
import { TOKEN } from './holders.ts'
import { fixed, table, whole } from './measure.ts'
import { quarters } from './memory.ts'
import { contractList } from './pages.ts'
import { cpuOf } from './processes.ts'

/** Rows a second that a list is to be sent with, from each store. */
const LEAST = { SQLite: 100_000, Elasticsearch: 40_000 } as const
/** MB by which an export may let the service grow. */
const MOST_GROWTH = 40

/** Long lists sent whole: rows a second, CPU, and memory while they are sent. */
export const exportsSection = async (bench: Bench, served: Served): Promise<string> => {
  const records = contractList(bench).query.replace(/&size=\d+/, '')
  const holders = `module=token&action=get-token-holder&token=${TOKEN}`
  const measure = async (name: string, query: string): Promise<readonly string[]> => {
    const before = [await cpuOf(served.service.pid), await cpuOf(bench.elasticPid)] as const
    const from = served.memory.length
    const start = performance.now()
    const { rows, bytes } = await served.drain(query)
    const seconds = (performance.now() - start) / 1_000
    // One more look at what is left.
    await Bun.sleep(600)
    const after = [await cpuOf(served.service.pid), await cpuOf(bench.elasticPid)] as const
    const cpu = (at: 0 | 1): number => (after[at] ?? 0) - (before[at] ?? 0)
    const memory = served.memory.slice(from)
    bench.judge({
      promise: `${served.name}, ${name}, rows`,
      least: served.name === 'SQLite' ? LEAST.SQLite : LEAST.Elasticsearch,
      unit: '/s',
      measured: rows / seconds,
    })
    bench.judge({
      promise: `${served.name}, ${name}, growth`,
      most: MOST_GROWTH,
      unit: 'MB',
      measured: Math.max(...memory) - (memory[0] ?? 0),
    })
    return [
      name,
      whole(rows),
      fixed(bytes / 1e6, 1),
      fixed(seconds),
      whole(rows / seconds),
      whole(rows / Math.max(cpu(0), 0.01)),
      served.name === 'SQLite' || bench.elasticPid === undefined ? '–' : whole(rows / Math.max(cpu(1), 0.01)),
      quarters(memory).join(', '),
    ]
  }
  const rows: (readonly string[])[] = []
  for (const format of ['ndjson', 'csv']) {
    rows.push(await measure(`records, ${format}`, `${records}&format=${format}`))
    rows.push(await measure(`holders, ${format}`, `${holders}&format=${format}`))
  }
  return table(['list', 'rows', 'MB', 's', 'rows/s', 'a CPU second', 'of Elasticsearch', 'memory, MB'], rows)
}
