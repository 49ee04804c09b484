import { expect, test } from 'bun:test'
import { Exact } from '#chain/json.ts'
import { dayOfDate, startOfDay } from '#chain/time.ts'
import { countDecimals, firstDue, formatPercent, grouped, isLong, signed, splitNumber, sumDecimals } from './amount.ts'
import { createAxis, datesLabelled, extentOfLevels, formatAxisLabels } from './axis.ts'
import { ACCOUNT_FIELDS, CONTRACT_FIELDS, inWordsOfPage, RANGE_FIELDS } from './field.ts'
import { getNextDate, parsePeriod } from './period.ts'
import { listNftMovements, listTokenMovements } from './record.ts'
import { hasDaysOfReturn } from './state.ts'
import { cutText, oneLine, shortened, visible } from './text.ts'
import { absolute, formatDuration, formatIso, isOld, relative } from './time.ts'

test.each([
  ['21000000000.12345678', '21,000,000,000.12345678', '+21,000,000,000.12345678'],
  ['1000.00000000', '1,000', '+1,000'],
  ['-9007199254740993', '-9,007,199,254,740,993', '−9,007,199,254,740,993'],
  ['0.5000', '0.5', '+0.5'],
  ['0.00', '0', '0'],
  ['-0.00000001', '-0.00000001', '−0.00000001'],
])('grouped, signed: %s loses no digit but trailing zeros', (amount, text, change) => {
  expect([grouped(amount), signed(amount)]).toEqual([text, change])
})

test('sumDecimals: sums are exact beyond a double, also of negative amounts', () => {
  expect(sumDecimals(['9007199254740993.00000001', '-0.5', '-0.00000002'])).toBe('9007199254740992.49999999')
  expect(sumDecimals(['1.5', '-2'])).toBe('-0.5')
  expect([sumDecimals([]), sumDecimals(['100', '-100.0'])]).toEqual(['0', '0'])
})

test.each([
  ['1', '3', '33.33'],
  ['9007199254740993', '9007199254740993', '100.00'],
  ['0.00000001', '90000000000', '0.00'],
  ['1', '0', undefined],
])('formatPercent: %s of %s, rounded down', (part, whole, percent) => {
  expect(formatPercent(part, whole)).toBe(percent)
})

test('countDecimals, splitNumber, isLong: decimals are less important from 1,000 on', () => {
  expect([['1', '2.50', '1234567.12345678'], ['1.0', 7, ''], []].map(countDecimals)).toEqual([8, 0, 0])
  expect(splitNumber('−1,234.5')).toEqual({ whole: '−1,234', fraction: '.5' })
  expect(splitNumber('42')).toEqual({ whole: '42', fraction: '' })
  expect(['1,234', '−1,000', '999', '0'].map(isLong)).toEqual([true, true, false, false])
})

test.each([
  [[], []],
  [['7'], ['7']],
  [
    ['8', '7', '7'],
    ['7', '7'],
  ],
  // Nanosecond times exceed the exact range of a double, and texts of other lengths do not sort as numbers.
  [['1700000000000000002', '1700000000000000001', '1700000000000000003'], ['1700000000000000001']],
  [['1700000000000000002', '900000000000000000'], ['900000000000000000']],
])('first due: of %j it is %j', (times, due) => {
  expect(firstDue(times.map(time => ({ time }))).map(({ time }) => time)).toEqual(due)
})

test('listTokenMovements: rows that moved tokens have their memo and the end of their freeze', () => {
  const row = (action_name: string, data: readonly unknown[], amount?: string) => ({
    ...{ action_name, data, from: 'alice', to: 'bob', amount, token: amount && 'iost' },
  })
  const plain = { token: 'iost', from: 'alice', to: 'bob', amount: '5', memo: '', until: undefined }
  expect(
    listTokenMovements([
      row('hello', ['iost', 'alice']),
      row('transfer', ['iost', 'alice', 'bob', '5.0', 'rent'], '5'),
      row('transferFreeze', ['iost', 'alice', 'bob', '5', new Exact('9007199254740993')], '5'),
    ]),
  ).toEqual([
    { ...plain, memo: 'rent' },
    { ...plain, until: '9007199254740993' },
  ])
})

const receipt = (name: string, ...args: readonly string[]) => ({
  func_name: `token721.iost/${name}`,
  content: JSON.stringify(args),
})
const mint = ['cats', 'alice', '{}']
const rest = { collection: 'cats', memo: '', until: undefined }

const transaction = {
  delay: '0',
  actions: [
    { contract: 'token721.iost', action_name: 'issue', data: JSON.stringify(mint) },
    { contract: 'ContractShop', action_name: 'sell', data: '[]' },
  ],
  tx_receipt: {
    status_code: 'SUCCESS',
    returns: ['["4"]', '[]'],
    receipts: [
      receipt('issue', ...mint),
      receipt('issue', ...mint),
      receipt('transfer', 'cats', 'alice', 'bob', '4'),
      // The right to issue is no NFT.
      receipt('transfer', 'cats', 'alice', 'bob', 'T721issuer'),
      receipt('create', 'cats', 'alice', '10'),
    ],
  },
}

test('listNftMovements: NFTs that actions and contracts issued and moved, those of a contract without the unknown id', () => {
  expect(listNftMovements(transaction)).toEqual([
    { ...rest, from: '', to: 'alice', nft: '4' },
    { ...rest, from: '', to: 'alice', nft: undefined },
    { ...rest, from: 'alice', to: 'bob', nft: '4' },
  ])
})

test('listNftMovements: failed and delayed transactions moved nothing', () => {
  expect(listNftMovements({ ...transaction, delay: '5' })).toEqual([])
  const failed = { ...transaction.tx_receipt, status_code: 'RUNTIME_ERROR' }
  expect(listNftMovements({ ...transaction, tx_receipt: failed })).toEqual([])
})

test('times: chain times are shown in UTC and as an age in words; an age of a day or more is old', () => {
  expect(formatIso('1542193445123456789')).toBe('2018-11-14T11:04:05.123Z')
  expect(absolute('2018-11-14T11:04:05.123Z')).toBe('2018-11-14 11:04:05')
  const now = Date.parse('2018-11-14T11:04:05.000Z')
  expect(relative('2018-11-14T11:04:04.000Z', now, 'en')).toBe('1 second ago')
  expect(relative('2018-11-14T11:06:05.000Z', now, 'en')).toBe('in 2 minutes')
  expect(relative('2018-11-11T11:04:05.000Z', now, 'zh')).toBe('3 天前')
  expect(['2018-11-13T11:04:05.000Z', '2018-11-13T11:04:06.000Z'].map(iso => isOld(iso, now))).toEqual([true, false])
})

test('visible: invisible and direction-changing characters are written as escapes', () => {
  expect(visible('a\u202eb\u0000c\u200bd\ud800')).toBe('a\\u{202e}b\\u{0}c\\u{200b}d\\u{d800}')
  expect(visible('two\nlines 你好 😀')).toBe('two\nlines 你好 😀')
  expect(visible('two\r\nlines\r')).toBe('two\nlines\\u{d}')
  // A zero-width joiner is harmless only between the parts of an emoji.
  for (const emoji of ['👩\u200d🚀', '🏳\ufe0f\u200d🌈', '👩🏽\u200d💻', '👨\u200d👩\u200d👧'])
    expect(visible(emoji)).toBe(emoji)
  expect(visible('a\u200db 😀\u200d \u200d😀')).toBe('a\\u{200d}b 😀\\u{200d} \\u{200d}😀')
  // Letters without a shape, and selectors that select nothing.
  expect(visible('a\u3164b\u2800\uffa0\u115f\ufe0f')).toBe('a\\u{3164}b\\u{2800}\\u{ffa0}\\u{115f}\\u{fe0f}')
  for (const text of ['❤\ufe0f', '1\ufe0f\u20e3', '葛\u{e0100}', 'שָׁלוֹם', 'ที่นี่', 'Việt', '각'])
    expect(visible(text)).toBe(text)
})

test('visible: marks that would be drawn over the lines around them are written as escapes', () => {
  const marked = `a${'\u0300'.repeat(4)}`
  expect(visible(`${marked}\u0300b`)).toBe(`${marked}\\u{300}b`)
  expect(visible(`a${'\u0300'.repeat(1_000)}`).replaceAll(/\\u\{300\}/g, '')).toBe(marked)
})

test('oneLine: the result has no line ends or invisible characters, and a limited length', () => {
  expect(oneLine(' a\n\t b\u202e ', 20)).toBe('a b\\u{202e}')
  expect(oneLine('abcd', 4)).toBe('abcd')
  expect(oneLine('abcde', 4)).toBe('abc…')
  expect(oneLine('ab😀de', 4)).toBe('ab…')
  expect(oneLine('\u202e'.repeat(65_536), 10)).toBe('\\u{202e}\\…')
})

test('cutText, shortened: letters stay whole, and a long name shows its begin and end', () => {
  expect(cutText('abc', 3)).toEqual({ text: 'abc', isWhole: true })
  expect(cutText('ab😀', 3)).toEqual({ text: 'ab', isWhole: false })
  expect(cutText('ab\r\nc', 3)).toEqual({ text: 'ab', isWhole: false })
  expect(shortened('producer000')).toBe('producer000')
  expect(shortened('HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ')).toBe('HYZKEf2mtZ…QWCdbJ')
})

test.each([
  [0, '0 s', '0 秒'],
  [119.4, '119 s', '119 秒'],
  [120, '2 minutes', '2 分钟'],
  [3_661, '1 hour 1 minute', '1 小时 1 分钟'],
  [86_399, '23 hours 59 minutes', '23 小时 59 分钟'],
  [86_401, '1 day', '1 天'],
  [546_092, '6 days 7 hours', '6 天 7 小时'],
  [-7_200, '-2 hours', '-2 小时'],
] as const)('formatDuration: %d seconds', (seconds, en, zh) => {
  expect([formatDuration(seconds, 'en'), formatDuration(seconds, 'zh')]).toEqual([en, zh])
})

const at = { height: 1, hash: 'block', lib: 1, time: startOfDay(dayOfDate('2026-11-21') ?? 0) + 1n }

test.each([
  ['', '2026-10-23', '2026-11-21'],
  ['end_date=2026-01-30', '2026-01-01', '2026-01-30'],
  ['start_date=2026-11-01', '2026-11-01', '2026-11-21'],
  ['start_date=2026-01-01&end_date=2026-01-02', '2026-01-01', '2026-01-02'],
  // The API counts back from the last day of the chain, and has no days after it.
  ['end_date=2027-06-01', '2026-10-23', '2027-06-01'],
  ['start_date=2027-01-01', '2027-01-01', '2027-01-01'],
  ['end_date=1970-01-05', '1970-01-01', '1970-01-05'],
  ['start_date=&end_date=', '2026-10-23', '2026-11-21'],
])('parsePeriod: %j is the period from %s to %s', (query, start_date, end_date) => {
  expect(parsePeriod({ at, query: new URLSearchParams(query) })).toEqual({ start_date, end_date })
})

test('getNextDate: the next day, also in another month and year', () => {
  expect(['2026-11-21', '2026-11-30', '2026-12-31', '2024-02-28'].map(getNextDate)).toEqual([
    ...['2026-11-22', '2026-12-01', '2027-01-01', '2024-02-29'],
  ])
})

test('hasDaysOfReturn: an annual return needs 30 days of rewards', () => {
  const now = BigInt(Date.parse('2026-11-30T12:00:00.000Z')) * 1_000_000n
  expect(hasDaysOfReturn(undefined, now)).toBe(false)
  expect(hasDaysOfReturn('2026-10-31T12:00:00.001Z', now)).toBe(false)
  expect(hasDaysOfReturn('2026-10-31T12:00:00.000Z', now)).toBe(true)
})

test.each([
  ['counterparty', ACCOUNT_FIELDS, "Parameter 'counterparty' is 'x'; it must be", "“Counterparty” is 'x'; it must be"],
  ['counterparty', CONTRACT_FIELDS, "Parameter 'counterparty' is 'x'; it must be", "“Party” is 'x'; it must be"],
  ['counterparty', RANGE_FIELDS, "Parameter 'counterparty' is 'x'.", "Parameter 'counterparty' is 'x'."],
  ['token', ACCOUNT_FIELDS, "Parameters 'failed' and 'token' cannot", '“Failed only” and “Token” cannot'],
  // Values and things of the chain that are named like parameters keep their names.
  ['start_block', ACCOUNT_FIELDS, "Parameter 'start_block' is 'start_block'; it", "“From block” is 'start_block'; it"],
  ['token', ACCOUNT_FIELDS, "Value 1 of parameter 'token' is 'token'.", "Value 1 of “Token” is 'token'."],
  ['', ACCOUNT_FIELDS, "Account 'failed' does not exist at block 7.", "Account 'failed' does not exist at block 7."],
  ['', ACCOUNT_FIELDS, "Token 'token' is not available yet", "Token 'token' is not available yet"],
] as const)('inWordsOfPage: a parameter has the label of a field of the page: %#', (...given) => {
  const [parameter, fields, message, said] = given
  const details: Readonly<Record<string, string>> = parameter === '' ? {} : { parameter }
  expect(inWordsOfPage({ lang: 'en' }, { message, details }, fields)).toBe(said)
})

test.each([
  ["参数 'failed' 与 'token' 不能同时使用。", '“只看失败”与“代币”不能同时使用。'],
  ["参数 'token' 的第 1 个值为 'token'；", "“代币”的第 1 个值为 'token'；"],
])('inWordsOfPage: in Chinese, %s', (message, said) => {
  expect(inWordsOfPage({ lang: 'zh' }, { message, details: { parameter: 'token' } }, ACCOUNT_FIELDS)).toBe(said)
})

const labels = (least: number, most: number, { isCount = false, lang = 'en' as 'en' | 'zh' } = {}) =>
  formatAxisLabels(createAxis({ least, most }, isCount), lang)

test('an axis has labels at round values that enclose the whole plot', () => {
  expect(labels(0, 7)).toEqual(['0', '5', '10'])
  expect(labels(0, 21_337)).toEqual(['0', '10K', '20K', '30K'])
  expect(labels(0, 21_337, { lang: 'zh' })).toEqual(['0', '1万', '2万', '3万'])
  expect(labels(-3, 14)).toEqual(['−10', '0', '10', '20'])
  expect(labels(0, 0.000_12)).toEqual(['0', '0.00005', '0.0001', '0.00015'])
  expect(labels(89_999_990_000, 90_000_000_100)).toEqual([
    ...['89,999,990,000', '89,999,995,000', '90,000,000,000', '90,000,005,000'],
  ])
  expect(labels(242_989.8, 242_990.3)).toEqual(['242,989.8', '242,990', '242,990.2', '242,990.4'])
  for (const [least, most] of [
    [0, 1],
    [0, 3e20],
    [0.1, 0.3],
    [-7e-9, 5e9],
    [999, 1001],
  ] as const) {
    const { ticks, step } = createAxis({ least, most }, false)
    expect([(ticks[0] ?? NaN) <= least, (ticks.at(-1) ?? NaN) >= most]).toEqual([true, true])
    expect([ticks.length >= 2, ticks.length <= 6, step > 0]).toEqual([true, true, true])
    expect(new Set(formatAxisLabels({ ticks, step }, 'en')).size).toBe(ticks.length)
  }
})

test('an axis of counts has whole numbers, and its maximum is above zero even if all values are zero', () => {
  for (const most of [0, 1, 2, 3, 4, 7]) {
    const { ticks } = createAxis({ least: 0, most }, true)
    expect([most, ticks.length > 1, ticks.every(Number.isInteger)]).toEqual([most, true, true])
  }
  expect(labels(0, 0)).toEqual(['0', '1'])
})

test('levels are drawn from zero unless their changes would be too small to see', () => {
  expect(extentOfLevels([5, 9])).toEqual({ least: 0, most: 9 })
  expect(extentOfLevels([100, 100])).toEqual({ least: 0, most: 100 })
  expect(extentOfLevels([100, 101])).toEqual({ least: 100, most: 101 })
  expect(extentOfLevels([0, 0])).toEqual({ least: 0, most: 0 })
})

test('a few dates have labels, including the last one', () => {
  const placesOf = (count: number) => {
    const days = Array.from({ length: count }, (_, at) => new Date(Date.UTC(2026, 0, at + 1)).toISOString())
    return datesLabelled(days.map(day => day.slice(0, 10))).map(({ at }) => at)
  }
  expect(placesOf(0)).toEqual([])
  expect(placesOf(1)).toEqual([0])
  expect(placesOf(4)).toEqual([0, 1, 2, 3])
  expect(placesOf(30)).toEqual([9, 19, 29])
  expect(placesOf(31)).toEqual([0, 10, 20, 30])
})

test('labels of days have no year, and times, which are not at equal distances, are numbered', () => {
  const textsOf = (...dates: readonly string[]) => datesLabelled(dates).map(({ text }) => text)
  expect(textsOf('2026-11', '2026-12')).toEqual(['2026-11', '2026-12'])
  expect(textsOf('2026-11-21', '2026-11-22')).toEqual(['11-21', '11-22'])
  expect(textsOf('2026-11-21 08:23:28', '2026-11-21 08:23:40', '2026-11-21 08:25:19')).toEqual(['1', '2', '3'])
})
