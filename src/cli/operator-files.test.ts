import { expect, test } from 'bun:test'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type HandClock, handClock } from '#test/support/clocks/hand-clock.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { parseLabels, parsePriceHistory, parsePrices, parseProfiles, watch } from './operator-files.ts'

test('parseLabels: a label is for all languages or for one language each', () => {
  const text = '\ufeffname,label,label_zh\r\nexchange01,Some Exchange,某交易所\r\n\r\n__proto__, A & B \r\ntoken.iost,T'
  const labels = new Map([
    ['exchange01', { en: 'Some Exchange', zh: '某交易所' }],
    ['__proto__', { en: 'A & B', zh: 'A & B' }],
    ['token.iost', { en: 'T', zh: 'T' }],
  ])
  expect(parseLabels(text)).toEqual(labels)
  expect(parseLabels(text.replace(/.*\r\n/, ''))).toEqual(labels)
  expect(parseLabels('')).toEqual(new Map())
  expect(parseLabels(`admin,${'😀'.repeat(40)}`).size).toBe(1)
})

test.each([
  ['admin', 'line 1, "admin", is not NAME,LABEL or NAME,LABEL,CHINESE LABEL'],
  ['admin,a,b,c', 'line 1, "admin,a,b,c", is not NAME,LABEL'],
  ['name,label\nAdmin,x', 'line 2, "Admin,x", does not begin with the name of an account or the id of a contract'],
  ['admin,x\n\nadmin,y', 'line 3, "admin,y", has the name of an earlier line'],
  ['admin,', 'line 1, "admin,", has an empty label'],
  ['admin,x,', 'line 1, "admin,x,", has an empty label'],
  ['admin,"x"', 'has a quote in a label'],
  ['admin,x\u202ey', 'has a label with an invisible character'],
  [`admin,${'x'.repeat(41)}`, 'has a label of more than 40 characters'],
  [
    Array.from({ length: 10_001 }, (_, at) => `user_${at},x`).join('\n'),
    'line 10001, "user_10000,x", is beyond the 10000 labels that a file may have',
  ],
])('parseLabels: refuses %#', (text, message) => {
  expect(() => parseLabels(text)).toThrow(message)
})

test('parsePrices: every digit is kept, also of JSON numbers', () => {
  const text = '{"usd": 0.005100000000000000, "cny": "0.037", "rank": 312, "time": "2026-11-21T08:00:00Z"}'
  const prices = { usd: '0.005100000000000000', cny: '0.037', rank: 312, time: '2026-11-21T08:00:00.000Z' }
  expect(parsePrices(text)).toEqual(prices)
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

const empty = {
  ...{ alias: '', alias_en: '', description: '', description_en: '', logo: '' },
  ...{ statement: '', statement_en: '', type: '', type_en: '', social_media: {} },
}

test('parseProfiles: JSON and CSV give the same profiles', () => {
  const own = { alias: '节点', statement_en: 'One, "two"\nthree', social_media: { twitter: 'https://t/x' } }
  const json = [
    { producer: 'producer000', ...own },
    { producer: '__proto__', logo: 'https://l' },
  ]
  const csv =
    '\ufeffproducer,alias,statement_en,social_media.twitter,logo\r\n' +
    'producer000,节点,"One, ""two""\nthree",https://t/x,\r\n' +
    '__proto__,,,,https://l\r\n'
  const expected = new Map([
    ['producer000', { ...empty, ...own }],
    ['__proto__', { ...empty, logo: 'https://l' }],
  ])
  for (const text of [JSON.stringify(json), csv]) expect<unknown>(parseProfiles(text)).toEqual(expected)
  for (const text of ['[]', 'producer,alias']) expect(parseProfiles(text)).toEqual(new Map())
})

test.each([
  ['', 'the text is empty'],
  ['[1]', 'a profile is not an object'],
  ['[{"alias":"x"}]', 'a profile has no producer'],
  ['[{"producer":"a","name":"x"}]', "'name' is not a field of a profile"],
  ['[{"producer":"a","alias":1}]', "'alias' of a profile is not a string"],
  ['[{"producer":"a","social_media":{"x":1}}]', "'social_media.x' of a profile is not a string"],
  ['producer,alias\na,b\na,c', 'producer a is given twice'],
  ['producer,alias\na', 'a line has 1 cells, but the header has 2'],
  ['producer,alias\na,"b"c', 'a quote is out of place'],
])('parseProfiles: refuses %p', (text, message) => {
  expect(() => parseProfiles(text)).toThrow(message)
})

function parse(text: string): string {
  if (text === '') throw new TypeError('the text is empty')
  return text
}

const MINUTE = 60_000

/** Advances the clock by a minute and waits until the file was read. */
async function nextLook(clock: HandClock): Promise<void> {
  await clock.awaited(MINUTE)
  await clock.pass(MINUTE)
  await clock.awaited(MINUTE)
}

const folder = testFolder()

test('watch: a file is read again every minute, and the last valid value is kept', async () => {
  const path = join(folder, 'prices.json')
  const clock = handClock()
  const lines: unknown[] = []
  const write = async (text: string, time: number): Promise<void> => {
    await writeFile(path, text)
    await utimes(path, time, time)
  }
  await write('one', 1)
  const log = (...line: unknown[]): void => void lines.push(line)
  const watched = await watch({ source: { path }, what: 'Prices', parse, log, clock })
  expect(watched.get()).toBe('one')
  await write('two', 2)
  expect(watched.get()).toBe('one')
  await nextLook(clock)
  expect(watched.get()).toBe('two')
  await write('', 3)
  await nextLook(clock)
  expect(watched.get()).toBe('two')
  const reason = { source: path, reason: 'the text is empty' }
  expect(lines).toEqual([['warn', 'Prices could not be read; the last ones read remain in use.', reason]])
  watched.close()
  await clock.awaited(MINUTE, 0)
})

test('watch: a URL that does not answer at the start is retried', async () => {
  const lines: unknown[] = []
  const log = (_level: string, line: string): void => void lines.push(line)
  const source = { url: 'http://127.0.0.1:1/prices.json' }
  const watched = await watch({ source, what: 'Prices', parse, log, clock: handClock() })
  expect(watched.get()).toBeUndefined()
  expect(lines).toEqual(['Prices could not be read; the next attempt is in a minute.'])
  watched.close()
})

test('watch: an unreadable file at the start is a usage error', async () => {
  const source = { path: '/nowhere/prices.json' }
  const watching = watch({ source, what: 'Prices', parse, log: () => undefined, clock: handClock() })
  await expect(watching).rejects.toThrow('Prices cannot be read from /nowhere/prices.json: ENOENT')
})
