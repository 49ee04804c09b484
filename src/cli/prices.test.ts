import { expect, test } from 'bun:test'
import { parsePrices } from './prices.ts'

test('parsePrices: every digit is kept, also of JSON numbers', () => {
  expect(
    parsePrices('{"usd": 0.005100000000000000, "cny": "0.037", "rank": 312, "time": "2026-11-21T08:00:00Z"}'),
  ).toEqual({ usd: '0.005100000000000000', cny: '0.037', rank: 312, time: '2026-11-21T08:00:00.000Z' })
})

test.each([
  ['[]', 'the text is not a JSON object'],
  ['{"usd":1,"cny":1,"time":"2026-11-21T08:00:00Z"}', 'field rank is missing'],
  ['{"usd":"1e-3","cny":1,"rank":1,"time":"2026-11-21T08:00:00Z"}', 'usd 1e-3 is not a decimal number'],
  ['{"usd":-1,"cny":1,"rank":1,"time":"2026-11-21T08:00:00Z"}', 'usd -1 is not a decimal number'],
  ['{"usd":1,"cny":1,"rank":0,"time":"2026-11-21T08:00:00Z"}', 'rank 0 is not a whole number from 1'],
  ['{"usd":1,"cny":1,"rank":1,"time":"yesterday"}', 'time yesterday is not an ISO-8601 time'],
  [
    '{"usd":1,"cny":1,"rank":1,"time":"2026-11-21T08:00:00"}',
    'time 2026-11-21T08:00:00 is not an ISO-8601 time with a zone',
  ],
])('parsePrices: refuses %s', (text, message) => {
  expect(() => parsePrices(text)).toThrow(message)
})
