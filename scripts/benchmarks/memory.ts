import type { Bench, Served } from './bench.ts'
import { hashOfRow } from './filled-chain.ts'
import { SIZE } from './floors.ts'
import { scattered, TOKEN } from './holders.ts'
import { fixed, table, whole } from './measure.ts'
import { hubList, lastPage } from './pages.ts'
import { cpuOf } from './processes.ts'

const CLIENTS = 8
/** Clients that ask at once for less and less, as a busy day's do. */
const LARGE = 64

/** Cells of memory through a run: at its quarters, and the most. */
export const quarters = (samples: readonly number[]): readonly string[] => [
  ...[0, 0.25, 0.5, 0.75, 1].map(part => whole(samples[Math.round(part * (samples.length - 1))] ?? 0)),
  whole(Math.max(...samples)),
]
export const QUARTERS = ['0 %', '25 %', '50 %', '75 %', '100 %', 'most'] as const

/** Pages, rankings, transactions and large pages at once: memory of the service, and what a request costs in CPU. */
export const memorySection = async (bench: Bench, served: Served): Promise<string> => {
  const { query, total } = hubList(bench)
  const { pid } = served.service
  const load = async (clients: number, calls: number, ask: (n: number) => Promise<unknown>) => {
    const from = served.memory.length
    const before = [await cpuOf(pid), await cpuOf(bench.elasticPid)] as const
    let next = 0
    const client = async (): Promise<void> => {
      for (let n = next++; n < calls; n = next++) await ask(n)
    }
    await Promise.all(Array.from({ length: clients }, client))
    // One more look at what is left.
    await Bun.sleep(600)
    const after = [await cpuOf(pid), await cpuOf(bench.elasticPid)] as const
    const cpu = (at: 0 | 1): string => fixed((1_000 * ((after[at] ?? 0) - (before[at] ?? 0))) / calls)
    return [
      whole(calls),
      ...quarters(served.memory.slice(from)),
      cpu(0),
      served.name === 'SQLite' || bench.elasticPid === undefined ? '–' : cpu(1),
    ]
  }
  const page = (n: number): Promise<string> =>
    served.ask(`${query}&page=${1 + scattered(n, lastPage(total))}`)
  const large = (n: number): Promise<string> =>
    served.ask(
      `${query.replace(`size=${SIZE}`, 'size=100')}&page=${1 + scattered(n, Math.ceil(total / 100))}`,
    )
  const holders = (n: number): Promise<string> =>
    served.ask(
      `module=token&action=get-token-holder&token=${TOKEN}&size=${SIZE}&page=${1 + scattered(n, lastPage(bench.holders))}`,
    )
  const transaction = (n: number): Promise<string> =>
    served.ask(
      `module=transaction&action=get-transaction-detail&tx_hash=${hashOfRow(scattered(n, bench.rows))}`,
    )
  const start = served.memory[0] ?? 0
  const rows = [
    ['random pages', ...(await load(CLIENTS, bench.calls * 10, page))],
    ['holders', ...(await load(CLIENTS, bench.calls * 4, holders))],
    ['transactions', ...(await load(CLIENTS, bench.calls * 10, transaction))],
    [`pages of 100, ${LARGE} clients`, ...(await load(LARGE, bench.calls * 4, large))],
  ]
  bench.judge({
    promise: `${served.name}, serving memory`,
    most: 250,
    unit: 'MB',
    measured: Math.max(...served.memory),
  })
  return [
    `Resident memory of the service on ${served.name}, MB: ${whole(start)} when it began to listen, ${CLIENTS} clients unless said otherwise:`,
    table(['load', 'requests', ...QUARTERS, 'CPU ms a request', 'of Elasticsearch'], rows),
    `Since it began to listen, all sections together: ${quarters(served.memory).join(', ')} (${QUARTERS.join(', ')}).`,
  ].join('\n\n')
}
