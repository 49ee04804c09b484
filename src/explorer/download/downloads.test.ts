import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Exact, RawJson } from '#chain/json.ts'
import { dayOfDate, startOfDay } from '#chain/time.ts'
import { usualPeriods } from '../format/period.ts'
import type { Visit } from '../page.ts'
import { accountRecords, blockFile, tokenMovements } from './downloads.ts'
import { MAX_ROWS, textCell } from './file.ts'
import { findWorkingPeriods } from './working-periods.ts'

const FORMULA = '=HYPERLINK("https://elsewhere.example","x")'

/** A row of an export: a movement by default, changed by `over`. */
const rowsWith = (data: readonly unknown[], over: object = {}) => ({
  rows: [
    {
      ...{ action_name: 'transfer', data: '', from: 'caller', to: 'token.iost' },
      ...{ amount: '1.5', token: data[0] },
      ...{ block: '7', tx_hash: 'hash', created_at: '2026-11-21T08:25:32.500Z', status_code: 'SUCCESS' },
      ...over,
    },
  ],
  data: [new RawJson(JSON.stringify(data))],
})

const asked = { id: 'alice', query: new URLSearchParams(), lang: 'en' } as const

test.each([
  [['iost', 'alice', 'bobby', '1.5', FORMULA], {}, ['Out', 'bobby', new Exact('-1.5'), 'iost', `'${FORMULA}`]],
  [['iost', 'bobby', 'alice', '1.5', '-1'], {}, ['In', 'bobby', new Exact('+1.5'), 'iost', "'-1"]],
  [['iost', 'alice', 'alice', '1.5', '@a'], {}, ['Self', 'alice', new Exact('0'), 'iost', "'@a"]],
  [['iost', 'bobby', 'carol', '1.5', '\tx'], {}, ['Others', 'bobby → carol', new Exact('0'), 'iost', "'\tx"]],
  [['usd', 'alice', '1.5'], { action_name: 'issue' }, ['In', '', new Exact('+1.5'), 'usd', '']],
  [['usd', 'alice', '1.5'], { action_name: 'destroy' }, ['Out', '', new Exact('-1.5'), 'usd', '']],
  [['usd', 'carol', '1.5'], { action_name: 'issue' }, ['Others', 'carol', new Exact('0'), 'usd', '']],
  [[FORMULA], { action_name: '+run', from: 'alice', to: '=c', amount: '1', token: undefined }, ['', "'=c", '', '', '']],
])('a row of an account’s file: %j %j', (data, over, cells) => {
  const [row = []] = accountRecords.table(asked).cellsOf(rowsWith(data, over), 0)
  expect(row.slice(0, 6)).toEqual(['2026-11-21 08:25:32.500', ...cells])
})

test('a row of a token’s file contains both sides, in the words of its language', () => {
  const { heads, cellsOf } = tokenMovements.table({ ...asked, lang: 'zh' })
  expect(heads.slice(0, 4)).toEqual(['时间（UTC）', '转出方', '转入方', '数量'])
  const [row = []] = cellsOf(rowsWith(['iost', 'bobby', 'carol', '1.5', ''], { status_code: '=OOPS' }), 0)
  expect(row.slice(1)).toEqual([
    ...['bobby', 'carol', new Exact('1.5'), 'iost', '', 'transfer', "'=OOPS", 'hash'],
    new Exact('7'),
  ])
})

const RUN = ['=', '+', '-', '@', '\t', '\r', '\n', '\uff1d', '\uff0b', '\uff0d', '\uff20']

test('textCell: a formula is shown as text by a spreadsheet', () => {
  expect(textCell('=HYPERLINK("https://elsewhere.example")')).toBe('\'=HYPERLINK("https://elsewhere.example")')
  expect(textCell("-1+1|cmd' /C calc'!A0")).toBe("'-1+1|cmd' /C calc'!A0")
  expect(textCell('\u202etxt')).toBe('\\u{202e}txt')
})

test('textCell: no cell begins like a formula, wherever a program divides the text', () =>
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...RUN, ';', '"', "'", ' ', 'a', '1') }), text => {
      const cell = textCell(text)
      expect(RUN).not.toContain(cell.charAt(0))
      // Quotes are doubled in the file; a program that divides inside of them leaves them out.
      for (const part of cell
        .replaceAll('"', '""')
        .split(/[;\t\r\n]/)
        .slice(1))
        expect(part).not.toMatch(/^["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]/)
    }),
  ))

test('textCell: other texts are unchanged', () =>
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '1', ' ', '"', "'", ';', ',') }), text => {
      const plain = `x${text}`
      expect(textCell(plain)).toBe(plain)
      expect(textCell(`${plain}=1`).replaceAll("'", '')).toBe(`${plain}=1`.replaceAll("'", ''))
    }),
  ))

/** A list with so many rows on each day, and how often it was asked for a count. */
function listOf(rows: Readonly<Record<string, number>>) {
  const counted = { times: 0 }
  const countFrom = (from: string, to = '9999') =>
    Object.entries(rows).reduce((sum, [day, count]) => sum + (day >= from && day <= to ? count : 0), 0)
  const visit = {
    ...{ lang: 'en', site: {}, query: new URLSearchParams('from=2026-11-21&start_block=3') },
    at: { height: 7, hash: '', time: startOfDay(dayOfDate('2026-11-21') ?? 0) + 1n },
    peek: async (_action, { start_date = '', end_date } = {}) => {
      counted.times += 1
      return { total: countFrom(start_date, end_date) }
    },
  } as Partial<Visit> as Visit
  return { visit, counted, countFrom }
}

const FILE = { file: blockFile, id: '' }

test.each([
  [{}],
  [{ '2026-11-21': 1 }],
  [{ '2026-11-21': MAX_ROWS }],
  [{ '2026-11-21': MAX_ROWS + 1, '2025-03-01': 7, '2026-10-01': 7 }],
  [{ '2026-11-14': 1, '2026-11-15': MAX_ROWS, '2026-10-31': MAX_ROWS, '2025-12-31': MAX_ROWS }],
  [{ '2024-12-31': 9, '2026-01-01': 9, '2026-10-23': MAX_ROWS - 9, '2026-10-22': 9 }],
  [{ '2026-09-30': MAX_ROWS + 1, '2026-10-01': 1, '2026-10-31': 1 }],
])('findWorkingPeriods: the periods with rows that fit into a file, counted once: %j', async rows => {
  const { visit, counted, countFrom } = listOf(rows)
  const working = usualPeriods(visit).filter(({ from, to }) => {
    const count = countFrom(from, to)
    return count > 0 && count <= MAX_ROWS
  })
  expect(await findWorkingPeriods(visit, FILE)).toEqual(working)
  const first = counted.times
  expect(first).toBeLessThanOrEqual(7)
  // A later block adds a row of the last day, and no day is counted anew.
  const later = { ...visit, at: { ...visit.at, height: 8 } }
  await findWorkingPeriods(later, FILE)
  expect(counted.times).toBe(first + 1)
  // A repair takes blocks back.
  await findWorkingPeriods({ ...visit, at: { ...visit.at, height: 6 } }, FILE)
  expect(counted.times).toBe(2 * first + 1)
})
