import type { Bench, StoreName } from './bench.ts'
import type { Chain } from './chains.ts'
import { fixed, table, whole } from './measure.ts'
import { cpuOf } from './processes.ts'
import { pathOf, type Side } from './sides.ts'

/** Required rows per second of an export, by store. */
const LEAST: Readonly<Record<StoreName, number>> = { SQLite: 100_000, Elasticsearch: 40_000 }
/** Maximum growth of the service's memory during an export, in MB. */
const MOST_GROWTH = 40

const HEADING = ['list', 'rows', 'MB', 's', 'rows/s', 'a CPU second', 'grown by MB'] as const

/** Exports of long lists: rows per second, CPU, and memory during the export. */
export const exportsText = async (
  bench: Bench,
  { store, side, chain }: { readonly store: StoreName; readonly side: Side; readonly chain: Chain },
): Promise<string> => {
  const { pid, url } = side.service
  const measure = async (name: string, query: string): Promise<readonly string[]> => {
    const before = (await cpuOf(pid)) ?? 0
    const from = side.memory.length
    const start = performance.now()
    const answer = await fetch(url + pathOf(side, query))
    if (!answer.ok) throw new Error(`${query}: ${answer.status} ${await answer.text()}`)
    let bytes = 0
    for await (const part of answer.body ?? []) bytes += part.length
    const rows = Number(answer.headers.get('x-total-count'))
    const seconds = (performance.now() - start) / 1_000
    // Waits for one more sample of the memory that stays in use.
    await Bun.sleep(600)
    const cpu = ((await cpuOf(pid)) ?? 0) - before
    const memory = side.memory.slice(from)
    const growth = Math.max(...memory) - (memory[0] ?? 0)
    const promise = `${store}, ${name}`
    bench.judge({ promise: `${promise}, rows`, least: LEAST[store], unit: '/s', measured: rows / seconds })
    bench.judge({ promise: `${promise}, growth`, most: MOST_GROWTH, unit: 'MB', measured: growth })
    return [
      name,
      whole(rows),
      fixed(bytes / 1e6, 1),
      fixed(seconds),
      whole(rows / seconds),
      whole(rows / Math.max(cpu, 0.01)),
      whole(growth),
    ]
  }
  const rows: (readonly string[])[] = []
  for (const format of ['ndjson', 'csv']) {
    const records = `module=contract&action=get-contract-tx&contract=token.iost&format=${format}`
    rows.push(await measure(`records, ${format}`, records))
    const holders = `module=token&action=get-token-holder&token=${chain.token}&format=${format}`
    rows.push(await measure(`holders, ${format}`, holders))
  }
  return table(HEADING, rows)
}
