import { expect, test } from 'bun:test'
import { parsePriceHistory } from './price-history.ts'

test('parsePriceHistory: every digit is kept, with and without a header line', () => {
  const byDay = new Map([
    ['2026-11-20', '0.005100000000000000'],
    ['2026-11-21', '12'],
  ])
  const lines = '2026-11-20,0.005100000000000000\r\n\r\n2026-11-21,12\n'
  expect(parsePriceHistory(lines)).toEqual({ currency: 'USD', byDay })
  expect(parsePriceHistory(`\ufeffDate,Price\n${lines}`)).toEqual({ currency: 'USD', byDay })
  expect(parsePriceHistory(`date,cny\n${lines}`)).toEqual({ currency: 'CNY', byDay })
})

test.each([
  ['', 'it has no line with a date and a price'],
  ['date,price\n', 'it has no line with a date and a price'],
  ['date,tokens\n2026-11-21,1', 'line 1 names "tokens", which is not price or a currency of three letters'],
  ['2026-11-21;1', 'line 1, "2026-11-21;1", is not a date and a price with one comma between them'],
  ['date,price\n2026-11-21,0,5', 'line 2, "2026-11-21,0,5", is not a date and a price with one comma'],
  ['2026-11-20,1\n2026-02-29,1', 'line 2, "2026-02-29,1", does not begin with a day that exists'],
  ['21.11.2026,1', 'line 1, "21.11.2026,1", does not begin with a day that exists, such as 2026-11-21'],
  ['2026-11-21,1e-3', 'line 1, "2026-11-21,1e-3", has no decimal price'],
  ['2026-11-21,-1', 'has no decimal price of at most 18 digits on each side of a point, such as 0.0051'],
  ['2026-11-21, 1', 'has no decimal price'],
  ['2026-11-21,1\n2026-11-21,2', 'line 2, "2026-11-21,2", has the day of an earlier line'],
])('parsePriceHistory: refuses %j', (text, message) => {
  expect(() => parsePriceHistory(text)).toThrow(message)
})
