import type { Bench, Served } from './bench.ts'
import { hashOfRow, heightOfRow } from './filled-chain.ts'
import { scattered } from './holders.ts'
import { type Ask, fixed, interleaved, table, whole } from './measure.ts'
import { HEADING, timesCells } from './pages.ts'

const CHECKED = 20

/** Transactions by their hashes, each asked once, against the floors. */
export const transactionsSection = async (
  bench: Bench,
  served: Served,
  floors: readonly [Ask, Ask],
): Promise<string> => {
  const byHash = (row: number): Promise<string> =>
    served.ask(`module=transaction&action=get-transaction-detail&tx_hash=${hashOfRow(row)}`)
  for (let n = 0; n < CHECKED; n++) {
    const row = scattered(n, bench.rows)
    const { data } = JSON.parse(await byHash(row)) as {
      data: { block_number: string; transaction: { hash: string } }
    }
    if (data.transaction.hash !== hashOfRow(row) || data.block_number !== String(heightOfRow(row)))
      throw new Error(`${served.name}: the transaction of row ${row} is not as filled.`)
  }
  const asks: readonly Ask[] = [
    ...floors,
    { name: 'transaction by hash', ask: n => byHash(scattered(n + CHECKED, bench.rows)) },
  ]
  const parts: string[] = []
  for (const clients of [1, 8]) {
    const times = await interleaved(asks, { calls: bench.calls, clients })
    const [f1, , found] = times
    if (clients === 1)
      bench.judge({
        promise: `${served.name}, transaction by hash`,
        most: 2,
        unit: '× F1',
        measured: (found?.p50 ?? 0) / (f1?.p50 ?? 1),
      })
    const rows = times.map((each, at) => [
      served.name,
      asks[at]?.name ?? '',
      ...timesCells(each),
      fixed(each.p50 / (f1?.p50 ?? 1)),
      `${whole((100 * each.perSecond) / (f1?.perSecond ?? 1))} %`,
    ])
    parts.push(
      `get-transaction-detail among ${whole(bench.rows)} transactions, ${clients} client${clients === 1 ? '' : 's'}:`,
      table([...HEADING, 'p50 ÷ F1', '/s of F1'], rows),
    )
  }
  return parts.join('\n\n')
}
