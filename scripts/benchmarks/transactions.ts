import type { Bench, Served } from './bench.ts'
import { hashOfRow, heightOfRow } from './filled-chain.ts'
import type { Floor } from './floors.ts'
import { scattered } from './holders.ts'
import { clientsText, FIGURES, figureCells, inTurns, ratio } from './in-turns.ts'
import { fixed, table, whole } from './measure.ts'

const CHECKED = 20
/** Different transactions; more would only fill the client's memory. */
const MOST = 1_000

/** Transactions by their hashes, each asked once, against the floors. */
export const transactionsSection = async (
  bench: Bench,
  served: Served,
  floors: readonly [Floor, Floor],
): Promise<string> => {
  const queryOf = (row: number): string =>
    `module=transaction&action=get-transaction-detail&tx_hash=${hashOfRow(row)}`
  for (let n = 0; n < CHECKED; n++) {
    const row = scattered(n, bench.rows)
    const { data } = JSON.parse(await served.ask(queryOf(row))) as {
      data: { block_number: string; transaction: { hash: string } }
    }
    if (data.transaction.hash !== hashOfRow(row) || data.block_number !== String(heightOfRow(row)))
      throw new Error(`${served.name}: the transaction of row ${row} is not as filled.`)
  }
  const rows = Array.from({ length: Math.min(MOST, bench.rows) }, (_, n) =>
    scattered(n + CHECKED, bench.rows),
  )
  const asked = [...floors, served.asked('transaction by hash', rows.map(queryOf))]
  const parts: string[] = []
  for (const clients of [1, 8]) {
    const times = await inTurns(asked, { ...bench, clients })
    const [f1, , found] = times
    if (clients === 1)
      bench.judge({
        promise: `${served.name}, transaction by hash`,
        most: 2,
        unit: '× F1',
        measured: ratio(found?.p50 ?? 0, f1?.p50),
      })
    const cells = times.map(each => [
      served.name,
      each.name,
      ...figureCells(each),
      fixed(ratio(each.p50, f1?.p50)),
      `${whole(ratio(100 * each.perSecond, f1?.perSecond))} %`,
    ])
    parts.push(
      `get-transaction-detail among ${whole(bench.rows)} transactions, ${clientsText(clients)}:`,
      table(['store', 'what', ...FIGURES, 'p50 ÷ F1', '/s of F1'], cells),
    )
  }
  return parts.join('\n\n')
}
