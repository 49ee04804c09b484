import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Exact, RawJson } from '#chain/json.ts'
import { parseDay, startOfDay } from '#chain/time.ts'
import type { Visit } from '../page.ts'
import { findWorkingPeriods, listUsualPeriods } from '../part/files.tsx'
import { accountRecords, blockFile, tokenMovements } from './downloads.ts'
import { MAX_ROWS, textCell } from './file.ts'

const FORMULA = '=HYPERLINK("https://elsewhere.example","x")'

/** A row of an export: a movement by default, changed by `over`. */
function rowsWith([token, ...data]: readonly unknown[], over: object = {}) {
  const moved = { action_name: 'transfer', data: '', from: 'caller', to: 'token.iost', amount: '1.5', token }
  const place = { block: '7', tx_hash: 'hash', created_at: '2026-11-21T08:25:32.500Z', status_code: 'SUCCESS' }
  return { rows: [{ ...moved, ...place, ...over }], data: [new RawJson(JSON.stringify([token, ...data]))] }
}

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

test('textCell: no cell begins like a formula, wherever a program divides the text', () =>
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...RUN, ';', '"', "'", ' ', 'a', '1') }), text => {
      const cell = textCell(text)
      expect(RUN).not.toContain(cell.charAt(0))
      // Quotes are doubled in the file; a program that divides inside of them leaves them out.
      const [, ...parts] = cell.replaceAll('"', '""').split(/[;\t\r\n]/)
      for (const part of parts) expect(part).not.toMatch(/^["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]/)
    }),
  ))

test('textCell: other texts are unchanged, except for invisible characters', () => {
  expect(textCell('\u202etxt')).toBe('\\u{202e}txt')
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '1', ' ', '"', "'", ';', ',') }), text => {
      expect(textCell(`x${text}`)).toBe(`x${text}`)
      expect(textCell(`x${text}=1`).replaceAll("'", '')).toBe(`x${text}=1`.replaceAll("'", ''))
    }),
  )
})

/** A list with so many rows on each day, and how often it was asked for a count. */
function listOf(rows: Readonly<Record<string, number>>) {
  const counted = { times: 0 }
  const countFrom = (from: string, to = '9999') =>
    Object.entries(rows).reduce((sum, [day, count]) => sum + (day >= from && day <= to ? count : 0), 0)
  const visit = {
    ...{ lang: 'en', site: {}, query: new URLSearchParams('from=2026-11-21&start_block=3') },
    at: { height: 0, hash: '', time: startOfDay(parseDay('2026-11-21') ?? 0) + 1n },
    peek: async (_action, { start_date = '', end_date } = {}) => {
      counted.times += 1
      return { total: countFrom(start_date, end_date) }
    },
  } as Partial<Visit> as Visit
  return { visit, counted, countFrom }
}

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
  const working = listUsualPeriods(visit).filter(({ from, to }) => {
    const count = countFrom(from, to)
    return count > 0 && count <= MAX_ROWS
  })
  const findAt = (height: number) =>
    findWorkingPeriods({ ...visit, at: { ...visit.at, height } }, { file: blockFile, id: '' })
  expect(await findAt(7)).toEqual(working)
  const first = counted.times
  expect(first).toBeLessThanOrEqual(7)
  // A later block adds a row of the last day, and no day is counted anew.
  await findAt(8)
  expect(counted.times).toBe(first + 1)
  // A repair takes blocks back.
  await findAt(6)
  expect(counted.times).toBe(2 * first + 1)
})
