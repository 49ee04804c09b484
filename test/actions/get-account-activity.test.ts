import { describe, expect, test } from 'bun:test'
import { plainLists } from '#test/support/oracle/plain-lists.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'

const DAY_NS = 86_400_000_000_000n
const DAY_MS = 86_400_000
/** The recorded chain: genesis, then eight years without a block, then one day that is not over yet. */
const [GENESIS, OPEN] = ['2018-11-10', '2026-11-21']

const datesFrom = (first: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) =>
    new Date(Date.parse(first) + at * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length),
  )

async function daysOf(account: string, dates: Readonly<Record<string, string>> = {}) {
  const { days, page, size, total } = await ask('get-account-activity', { account, ...dates })
  expect([page, size, total]).toEqual([1, days.length, days.length])
  return days as readonly Record<string, unknown>[]
}

/** The number of rows of an account's list on each day, counted from the blocks. Keys are days since 1970. */
async function plainCounts(account: string): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>()
  for (const { time } of (await plainLists()).get(`account/${account}`) ?? []) {
    const day = Number(time / DAY_NS)
    counts.set(day, (counts.get(day) ?? 0) + 1)
  }
  return counts
}

describe('get-account-activity', () => {
  test('get-account-activity: each day of every account matches a count of its rows', async () => {
    const wrong: string[] = []
    let records = 0
    for (const list of (await plainLists()).keys()) {
      const [kind, account = ''] = list.split('/')
      if (kind !== 'account') continue
      const counts = await plainCounts(account)
      for (const [start_date, count] of [
        [GENESIS, 92],
        ['2026-11-18', 4],
      ] as const) {
        const dates = datesFrom(start_date, count)
        const rows = await daysOf(account, { start_date, end_date: dates.at(-1) ?? '' })
        const expected = dates.map(date => ({
          date,
          complete: date !== OPEN,
          records: counts.get(Date.parse(date) / DAY_MS) ?? 0,
        }))
        if (!Bun.deepEquals(rows, expected, true)) wrong.push(account)
        for (const row of rows) records += Number(row['records'])
      }
    }
    expect(wrong).toEqual([])
    expect(records).toBeGreaterThan(100_000)
  })

  test('get-account-activity: without dates, the 30 days up to the last block are returned', async () => {
    const all = await daysOf('busyhub')
    expect(all.map(({ date }) => date)).toEqual(datesFrom('2026-10-23', 30))
    expect(await daysOf('busyhub', { end_date: OPEN })).toEqual(all)
    expect(await daysOf('busyhub', { end_date: '2031-12-31' })).toEqual(all)
    expect(await daysOf('busyhub', { start_date: '2026-10-23' })).toEqual(all)
  })

  test('get-account-activity: days before the chain and after its last block are left out', async () => {
    const datesIn = async (dates: Readonly<Record<string, string>>) =>
      (await daysOf('busyhub', dates)).map(({ date }) => date)
    const [before, after] = ['2018-11-01', '2026-12-24']
    expect(await datesIn({ start_date: before, end_date: '2018-11-12' })).toEqual(datesFrom(GENESIS, 3))
    expect(await datesIn({ start_date: '2026-11-20', end_date: after })).toEqual(['2026-11-20', OPEN])
    expect(await datesIn({ start_date: '9999-01-01', end_date: '9999-03-31' })).toEqual([])
    expect(await datesIn({ end_date: '0000-01-01' })).toEqual([])
  })

  test('get-account-activity: accepts contract ids with and without prefix, and owners without a row', async () => {
    const id = 'Contractjnq6aRFWX1qhc1pSFFAN3ZdG7zb4kQvWGMWzxKjozKJ'
    expect(await daysOf(id.slice('Contract'.length))).toEqual(await daysOf(id))
    expect((await daysOf('0')).map(({ records }) => records)).toEqual(Array(30).fill(0))
  })

  test('get-account-activity: refuses unknown accounts and more than 92 days', async () => {
    expect(await refusal(daysOf('nosuchacc'))).toEqual({
      kind: 'not_found',
      en: "Account 'nosuchacc' does not exist at block 4851.",
      zh: "账户 'nosuchacc' 不存在（截至区块 4851）。",
    })
    const { kind, en, zh } = await refusal(daysOf('busyhub', { start_date: '2026-08-21' }))
    expect([kind, en]).toEqual([
      'bad_request',
      "The range from 2026-08-21 to 2026-11-21 has 93 days; at most 92 are allowed: split it with 'start_date' and 'end_date'.",
    ])
    expect(zh).toContain('92')
    expect((await daysOf('busyhub', { start_date: '2026-08-22' })).length).toBe(92)
    const turned = { start_date: '2026-11-21', end_date: '2026-11-20' }
    expect((await refusal(daysOf('busyhub', turned))).en).toContain('must not be after the end')
  })
})
