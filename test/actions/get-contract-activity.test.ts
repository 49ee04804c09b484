import { describe, expect, test } from 'bun:test'
import { plainLists } from '#test/support/oracle/plain-lists.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'

const DAY_NS = 86_400_000_000_000n
const DAY_MS = 86_400_000
/** The last day of the recorded chain, which is not over yet. */
const OPEN = '2026-11-21'

async function daysOf(given: Readonly<Record<string, string>>) {
  const { days, page, size, total } = await ask('get-contract-activity', given)
  expect([page, size, total]).toEqual([1, days.length, days.length])
  return days as readonly { readonly date: string; readonly records: number }[]
}

describe('get-contract-activity', () => {
  test('get-contract-activity: each day of every contract and action matches a count of its rows', async () => {
    const wrong: string[] = []
    let asked = 0
    for (const [list, rows] of await plainLists()) {
      const [kind, contract = '', action_name] = list.split('/')
      if (kind !== 'contract' && kind !== 'action') continue
      const named = action_name === undefined ? {} : { action_name }
      const days = await daysOf({ contract, ...named, start_date: '2026-11-18' })
      const expected = days.map(({ date }) => ({
        date,
        complete: date !== OPEN,
        records: rows.filter(({ time }) => Number(time / DAY_NS) === Date.parse(date) / DAY_MS).length,
      }))
      if (days.length !== 4 || !Bun.deepEquals(days, expected, true)) wrong.push(list)
      asked += 1
    }
    expect(wrong).toEqual([])
    expect(asked).toBeGreaterThan(50)
  })

  test('get-contract-activity: without dates 30 days are returned; an action without rows has none', async () => {
    const all = await daysOf({ contract: 'token.iost' })
    expect([all.length, all[0]?.date, all.at(-1)?.date]).toEqual([30, '2026-10-23', OPEN])
    const none = await daysOf({ contract: 'token.iost', action_name: 'nosuchaction' })
    expect(none.map(({ records }) => records)).toEqual(Array(30).fill(0))
  })

  test('get-contract-activity: refuses unknown contracts and more than 92 days', async () => {
    expect(await refusal(daysOf({ contract: 'nosuch.iost' }))).toEqual({
      kind: 'not_found',
      en: "Contract 'nosuch.iost' does not exist at block 4851.",
      zh: "合约 'nosuch.iost' 不存在（截至区块 4851）。",
    })
    const { kind, en } = await refusal(daysOf({ contract: 'token.iost', start_date: '2026-08-21' }))
    expect([kind, en]).toEqual([
      'bad_request',
      "The range from 2026-08-21 to 2026-11-21 has 93 days; at most 92 are allowed: split it with 'start_date' and 'end_date'.",
    ])
  })
})
