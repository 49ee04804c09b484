import { expect, test } from 'bun:test'
import { Exact } from '#chain/json.ts'
import { countDecimals, formatPercent, grouped, isLong, signed, splitNumber, sumDecimals } from './amount.ts'
import { listTokenMovements } from './record.ts'
import { cutText, oneLine, shortened, visible } from './text.ts'
import { absolute, formatDuration, formatIso, isOld, relative } from './time.ts'

test('grouped: thousands are separated, no digit is lost, and trailing zeros are dropped', () => {
  expect(grouped('21000000000.12345678')).toBe('21,000,000,000.12345678')
  expect(grouped('1000.00000000')).toBe('1,000')
  expect(grouped('-9007199254740993')).toBe('-9,007,199,254,740,993')
  expect(grouped('100')).toBe('100')
  expect(grouped('0.5000')).toBe('0.5')
  expect(grouped('no number')).toBe('no number')
})

test('signed: a change has a sign, and zero has none', () => {
  expect(signed('1234567.50')).toBe('+1,234,567.5')
  expect(signed('-0.00000001')).toBe('−0.00000001')
  expect(['0', '0.00', '-3000'].map(signed)).toEqual(['0', '0', '−3,000'])
})

test('sumOf: sums are exact beyond a double, also of negative amounts', () => {
  expect(sumDecimals(['9007199254740993.00000001', '-0.5', '-0.00000002'])).toBe('9007199254740992.49999999')
  expect(sumDecimals(['1.5', '-2'])).toBe('-0.5')
  expect([sumDecimals([]), sumDecimals(['100', '-100.0'])]).toEqual(['0', '0'])
})

test('movementsIn: rows that moved tokens have their memo and the end of their freeze', () => {
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

test('percentOf: two decimals, rounded down, for amounts beyond a double', () => {
  expect(formatPercent('1', '3')).toBe('33.33')
  expect(formatPercent('9007199254740993', '9007199254740993')).toBe('100.00')
  expect(formatPercent('0.00000001', '90000000000')).toBe('0.00')
  expect(formatPercent('1', '0')).toBeUndefined()
})

test('decimalsOf: the number of decimals of the longest number, without trailing zeros', () => {
  expect(countDecimals(['1', '2.50', '1234567.12345678'])).toBe(8)
  expect(countDecimals(['1.0', 7, ''])).toBe(0)
  expect(countDecimals([])).toBe(0)
})

test('partsOf, isLong: decimals are less important from 1,000 on', () => {
  expect(splitNumber('−1,234.5')).toEqual({ whole: '−1,234', fraction: '.5' })
  expect(splitNumber('42')).toEqual({ whole: '42', fraction: '' })
  expect(['1,234', '−1,000', '999', '0'].map(isLong)).toEqual([true, true, false, false])
})

test('isOld: an age of a day or more is old', () => {
  const now = Date.parse('2018-11-14T11:04:05.000Z')
  expect(isOld('2018-11-13T11:04:05.000Z', now)).toBe(true)
  expect(isOld('2018-11-13T11:04:06.000Z', now)).toBe(false)
})

test('times: chain times are shown in UTC and as an age in words', () => {
  expect(formatIso('1542193445123456789')).toBe('2018-11-14T11:04:05.123Z')
  expect(absolute('2018-11-14T11:04:05.123Z')).toBe('2018-11-14 11:04:05')
  const now = Date.parse('2018-11-14T11:04:05.000Z')
  expect(relative('2018-11-14T11:04:04.000Z', now, 'en')).toBe('1 second ago')
  expect(relative('2018-11-14T09:04:05.000Z', now, 'en')).toBe('2 hours ago')
  expect(relative('2018-11-14T11:06:05.000Z', now, 'en')).toBe('in 2 minutes')
  expect(relative('2018-11-11T11:04:05.000Z', now, 'zh')).toBe('3 天前')
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

test('beginningOf, shortened: letters stay whole, and a long name shows its begin and end', () => {
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
