import { expect, test } from 'bun:test'
import { openBook } from '#actions/books/open-book.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { bookForm } from './book.ts'

const FORMULA = '=HYPERLINK("https://elsewhere.example","x")'

function linesOf(action: string, memo: string, csv: 'koinly' | 'ledger'): readonly string[] {
  const booking = {
    ...{ time: '2026-11-21T08:25:32.500Z', token: 'iost', change: '-1.50', tx_hash: '-hash' },
    ...{ action, counterparty: 'bobby', isStake: false, memo },
  }
  const at = { height: 1, time: 0n }
  const book = openBook(
    { view: { at } },
    { csv, account: '../alice', tokens: [], range: {}, bookingsOf: () => [booking] },
  )
  const { serializer, fileName } = bookForm(book)
  expect(fileName).toBe(`.._alice-all-tokens-to-1970-01-01-${csv}.csv`)
  return readWholeCsv(serializer.rows({ rows: [] }) + serializer.tail(0))[1] ?? []
}

test('a book: formulas are shown as text, and amounts stay numbers', () => {
  expect(linesOf('transfer', FORMULA, 'ledger')).toEqual([
    ...['2026-11-21', `transfer to bobby: ${FORMULA}`, '-1.50', '', 'iost', "'-hash"],
  ])
  expect(linesOf('@run', '\u202etxt', 'koinly').slice(10)).toEqual(["'@run to bobby: \\u{202e}txt", "'-hash"])
})
