import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { openBook } from '#actions/books/open-book.ts'
import type { Rows } from '#actions/find/listing.ts'
import { Exact, RawJson } from '#chain/json.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { bookForm, csvLines, csvSerializer } from './reply.ts'
import { collectPieces, gzipPacker, needsLength } from './stream.ts'

/** The file of some rows, in parts of `size`; `cut`: without its end. */
function fileOf(
  { rows, data }: Rows,
  columns: readonly string[] | undefined,
  { size = 3, isCut = false }: { readonly size?: number; readonly isCut?: boolean } = {},
): string {
  const file = csvSerializer({ heads: columns ?? ['one'], linesOf: part => csvLines(part, columns) })
  let text = ''
  for (let at = 0; at < rows.length; at += size)
    text += file.rows({ rows: rows.slice(at, at + size), ...(data && { data: data.slice(at, at + size) }) })
  return isCut ? text : text + file.tail(rows.length)
}
const linesOf = (rows: Rows, columns: readonly string[] | undefined) => readWholeCsv(fileOf(rows, columns)).slice(1)

const hostile = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'",\r\n\t a=\';\0', '\u{1f600}') }),
  fc.string({ unit: 'grapheme' }),
)

test('csv: texts of any kind are read back, cell by cell', () =>
  fc.assert(
    fc.property(fc.array(fc.tuple(hostile, hostile, hostile), { maxLength: 8 }), table => {
      const columns = ['one', 'two "and"', 'three,\r\n']
      const rows = table.map(cells => Object.fromEntries(columns.map((name, at) => [name, cells[at]])))
      expect(readWholeCsv(fileOf({ rows }, columns))).toEqual([columns, ...table])
    }),
  ))

test('csv: a single value, also an empty one, is one record', () =>
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 8 }), rows => {
      expect(linesOf({ rows }, undefined)).toEqual(rows.map(row => [row]))
    }),
  ))

test('csv: a file that was cut anywhere does not say that it is complete', () =>
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 4 }), (rows, size) => {
      const whole = fileOf({ rows }, undefined, { size })
      expect(whole).toStartWith(fileOf({ rows }, undefined, { size, isCut: true }))
      for (let length = whole.indexOf('\r\n') + 3; length < whole.length; length += 1)
        expect(() => readWholeCsv(whole.slice(0, length))).toThrow()
    }),
  ))

test('csv: the names of columns come with the first row, or at the end of a file without rows', () => {
  const file = csvSerializer({ heads: ['a'], linesOf: part => csvLines(part, ['a']) })
  expect([file.rows({ rows: [] }), file.tail(0)]).toEqual(['', 'a,complete_rows\r\n'])
})

test('csv: numbers have all digits, arrays and objects are JSON text, and absent values are empty', () => {
  const row = {
    exact: new Exact('90071992547409931234.00000001'),
    count: 12,
    flag: false,
    none: null,
    list: ['a', new Exact('1.10'), { deep: '"' }],
    raw: new RawJson('[9007199254740993]'),
    by: new Map([['__proto__', 1n]]),
  }
  const columns = ['exact', 'count', 'flag', 'none', 'missing', 'list', 'raw', 'by']
  const texts = ['90071992547409931234.00000001', '12', 'false', '', '']
  const json = ['["a",1.10,{"deep":"\\""}]', '[9007199254740993]', '{"__proto__":1}']
  expect(linesOf({ rows: [row] }, columns)).toEqual([[...texts, ...json]])
})

test('csv: the data of a row is in its column as unchanged JSON text', () => {
  const rows = [1, 2].map(a => ({ a, data: '' }))
  const data = [new RawJson('["x, \\"y\\""]'), 'plain "text"']
  expect(linesOf({ rows, data }, ['a', 'data'])).toEqual([
    ['1', '["x, \\"y\\""]'],
    ['2', 'plain "text"'],
  ])
})

const FORMULA = '=HYPERLINK("https://elsewhere.example","x")'

function readBookLines(action: string, memo: string, csv: 'koinly' | 'ledger'): readonly string[] {
  const money = { token: 'iost', change: '-1.50', tx_hash: '-hash', counterparty: 'bobby', isStake: false }
  const bookings = [{ ...money, time: '2026-11-21T08:25:32.500Z', action, memo }]
  const view = { at: { height: 1, time: 0n } }
  const book = openBook({ view }, { csv, account: '../alice', tokens: [], range: {}, bookingsOf: () => bookings })
  const { serializer, fileName } = bookForm(book)
  expect(fileName).toBe(`.._alice-all-tokens-to-1970-01-01-${csv}.csv`)
  return readWholeCsv(serializer.rows({ rows: [] }) + serializer.tail(0))[1] ?? []
}

test('a book: formulas are shown as text, and amounts stay numbers', () => {
  expect(readBookLines('transfer', FORMULA, 'ledger')).toEqual([
    ...['2026-11-21', `transfer to bobby: ${FORMULA}`, '-1.50', '', 'iost', "'-hash"],
  ])
  expect(readBookLines('@run', '\u202etxt', 'koinly').slice(10)).toEqual(["'@run to bobby: \\u{202e}txt", "'-hash"])
})

const MEGABYTE = 1024 * 1024

async function* piecesOf(count: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < count; at += 1) yield new Uint8Array(MEGABYTE).fill(at)
}

test('collectPieces: pieces become one body, and a body of more than 8 MiB is refused with the remedy', async () => {
  const body = await collectPieces(piecesOf(8))
  expect([body.length, body[0], body.at(-1)]).toEqual([8 * MEGABYTE, 0, 7])
  await expect(collectPieces(piecesOf(9))).rejects.toThrow('in nginx set proxy_http_version 1.1')
})

test.each([
  [{}, false],
  [{ connection: 'keep-alive' }, false],
  [{ connection: 'closed' }, false],
  [{ connection: 'close' }, true],
  [{ connection: 'TE, Close' }, true],
])('needsLength: %j', (headers, expected) => {
  expect(needsLength(new Request('http://localhost/', { headers }))).toBe(expected)
})

test('gzipPacker: the pieces are one gzip stream', async () => {
  const packer = gzipPacker()
  const packed: Uint8Array[] = []
  for (const text of ['one ', 'two ', 'three']) packed.push(await packer.pack(new TextEncoder().encode(text)))
  packed.push(await packer.end())
  packer.close()
  expect(packed.slice(0, 3).every(({ length }) => length > 0)).toBe(true)
  expect(new TextDecoder().decode(Bun.gunzipSync(Buffer.concat(packed)))).toBe('one two three')
})
