import { fromUnits } from '#chain/amount.ts'
import type { Bench, Served } from './bench.ts'
import { type Floor, SIZE } from './floors.ts'
import { DECIMAL, holdersOf, scattered, TOKEN } from './holders.ts'
import { clientsText, FIGURES, figureCells, inTurns, ratio } from './in-turns.ts'
import { fixed, table, whole } from './measure.ts'
import { lastPage, pagesAsked } from './pages.ts'

const QUERY = `module=token&action=get-token-holder&token=${TOKEN}&size=${SIZE}`
const CHECKED = 20

/** Pages of the holders of one token, many of whom hold the same, against the first page. */
export const rankingsSection = async (
  bench: Bench,
  served: Served,
  floors: readonly [Floor, Floor],
): Promise<string> => {
  const { count, standing } = holdersOf(bench.holders)
  const last = lastPage(count)
  const page = (number: number): Promise<string> => served.ask(`${QUERY}&page=${number}`)
  const check = async (number: number): Promise<void> => {
    const { data } = JSON.parse(await page(number)) as {
      data: { total: number; holders: readonly { account: string; balance: string }[] }
    }
    const from = (number - 1) * SIZE
    const expected = Array.from({ length: Math.min(SIZE, count - from) }, (_, at) => {
      const { name, amount } = standing(from + at)
      return [name, fromUnits(amount, DECIMAL)]
    })
    const shown = data.holders.map(({ account, balance }) => [account, balance])
    if (data.total !== count || !Bun.deepEquals(shown, expected))
      throw new Error(`${served.name}: page ${number} of the holders is not as filled.`)
  }
  for (const number of [1, last >> 1, last - 1, last]) await check(number)
  for (let n = 0; n < CHECKED; n++) await check(1 + scattered(n, last))
  const asked = [...floors, ...pagesAsked(served, QUERY, last)]
  const parts: string[] = []
  for (const clients of [1, 8]) {
    const times = await inTurns(asked, { ...bench, clients })
    const [, f2, first] = times
    if (clients === 1)
      bench.judge({
        promise: `${served.name}, any page of ${whole(count)} holders`,
        most: 2,
        unit: '× its first page',
        measured: ratio(Math.max(...times.slice(floors.length).map(({ p50 }) => p50)), first?.p50),
      })
    const rows = times.map(each => [
      served.name,
      each.name,
      ...figureCells(each),
      fixed(ratio(each.p50, f2?.p50)),
      fixed(ratio(each.p50, first?.p50)),
    ])
    parts.push(
      `get-token-holder of ${TOKEN}, ${whole(count)} holders, ${SIZE} a page, ${clientsText(clients)}:`,
      table(['store', 'what', ...FIGURES, 'p50 ÷ F2', 'p50 ÷ first'], rows),
    )
  }
  return parts.join('\n\n')
}
