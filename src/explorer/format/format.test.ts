import { expect, test } from 'bun:test'
import { Exact } from '#chain/json.ts'
import { decimalsOf, grouped, isLong, partsOf, percentOf, signed, sumOf } from './amount.ts'
import { movementsIn } from './movements.ts'
import { absolute, isOld, isoOf, relative } from './time.ts'
import { beginningOf, oneLine, shortened, visible } from './visible.ts'

test('grouped: thousands apart, no digit lost, no zeros at the end', () => {
  expect(grouped('21000000000.12345678')).toBe('21,000,000,000.12345678')
  expect(grouped('1000.00000000')).toBe('1,000')
  expect(grouped('-9007199254740993')).toBe('-9,007,199,254,740,993')
  expect(grouped('100')).toBe('100')
  expect(grouped('0.5000')).toBe('0.5')
  expect(grouped('no number')).toBe('no number')
})

test('signed: a change has its sign, and none has none', () => {
  expect(signed('1234567.50')).toBe('+1,234,567.5')
  expect(signed('-0.00000001')).toBe('−0.00000001')
  expect(['0', '0.00', '-3000'].map(signed)).toEqual(['0', '0', '−3,000'])
})

test('sumOf: exact beyond a double, also of what is below zero', () => {
  expect(sumOf(['9007199254740993.00000001', '-0.5', '-0.00000002'])).toBe('9007199254740992.49999999')
  expect(sumOf(['1.5', '-2'])).toBe('-0.5')
  expect([sumOf([]), sumOf(['100', '-100.0'])]).toEqual(['0', '0'])
})

test('movementsIn: rows that moved tokens, with memo and the time until which they are frozen', () => {
  const row = (action_name: string, data: readonly unknown[], amount?: string) => ({
    ...{ action_name, data, from: 'alice', to: 'bob', amount, token: amount && 'iost' },
  })
  const plain = { token: 'iost', from: 'alice', to: 'bob', amount: '5', memo: '', until: undefined }
  expect(
    movementsIn([
      row('hello', ['iost', 'alice']),
      row('transfer', ['iost', 'alice', 'bob', '5.0', 'rent'], '5'),
      row('transferFreeze', ['iost', 'alice', 'bob', '5', new Exact('9007199254740993')], '5'),
    ]),
  ).toEqual([
    { ...plain, memo: 'rent' },
    { ...plain, until: '9007199254740993' },
  ])
})

test('percentOf: two decimals, rounded down, of amounts beyond a double', () => {
  expect(percentOf('1', '3')).toBe('33.33')
  expect(percentOf('9007199254740993', '9007199254740993')).toBe('100.00')
  expect(percentOf('0.00000001', '90000000000')).toBe('0.00')
  expect(percentOf('1', '0')).toBeUndefined()
})

test('decimalsOf: as many as the longest number shows, zeros at the end aside', () => {
  expect(decimalsOf(['1', '2.50', '1234567.12345678'])).toBe(8)
  expect(decimalsOf(['1.0', 7, ''])).toBe(0)
  expect(decimalsOf([])).toBe(0)
})

test('partsOf, isLong: what stands behind the point says little from 1,000 on', () => {
  expect(partsOf('−1,234.5')).toEqual({ whole: '−1,234', fraction: '.5' })
  expect(partsOf('42')).toEqual({ whole: '42', fraction: '' })
  expect(['1,234', '−1,000', '999', '0'].map(isLong)).toEqual([true, true, false, false])
})

test('isOld: from a day on', () => {
  const now = Date.parse('2018-11-14T11:04:05.000Z')
  expect(isOld('2018-11-13T11:04:05.000Z', now)).toBe(true)
  expect(isOld('2018-11-13T11:04:06.000Z', now)).toBe(false)
})

test('times: of the chain in UTC, and how long ago in words', () => {
  expect(isoOf('1542193445123456789')).toBe('2018-11-14T11:04:05.123Z')
  expect(absolute('2018-11-14T11:04:05.123Z')).toBe('2018-11-14 11:04:05')
  const now = Date.parse('2018-11-14T11:04:05.000Z')
  expect(relative('2018-11-14T11:04:04.000Z', now, 'en')).toBe('1 second ago')
  expect(relative('2018-11-14T09:04:05.000Z', now, 'en')).toBe('2 hours ago')
  expect(relative('2018-11-14T11:06:05.000Z', now, 'en')).toBe('in 2 minutes')
  expect(relative('2018-11-11T11:04:05.000Z', now, 'zh')).toBe('3 天前')
})

test('visible: what is not seen or turns a text around is written out', () => {
  expect(visible('a\u202eb\u0000c\u200bd\ud800')).toBe('a\\u{202e}b\\u{0}c\\u{200b}d\\u{d800}')
  expect(visible('two\nlines 你好 😀')).toBe('two\nlines 你好 😀')
  // A zero-width joiner is harmless only between the parts of an emoji.
  for (const emoji of ['👩\u200d🚀', '🏳\ufe0f\u200d🌈', '👩🏽\u200d💻', '👨\u200d👩\u200d👧'])
    expect(visible(emoji)).toBe(emoji)
  expect(visible('a\u200db 😀\u200d \u200d😀')).toBe('a\\u{200d}b 😀\\u{200d} \\u{200d}😀')
})

test('oneLine: no line ends, nothing invisible, and a limited number of letters', () => {
  expect(oneLine(' a\n\t b\u202e ', 20)).toBe('a b\\u{202e}')
  expect(oneLine('abcd', 4)).toBe('abcd')
  expect(oneLine('abcde', 4)).toBe('abc…')
  expect(oneLine('ab😀de', 4)).toBe('ab…')
  expect(oneLine('\u202e'.repeat(65_536), 10)).toBe('\\u{202e}\\…')
})

test('beginningOf: whole letters only; shortened: begin and end of a long name', () => {
  expect(beginningOf('abc', 3)).toEqual({ text: 'abc', isWhole: true })
  expect(beginningOf('ab😀', 3)).toEqual({ text: 'ab', isWhole: false })
  expect(shortened('producer000')).toBe('producer000')
  expect(shortened('HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ')).toBe('HYZKEf2mtZ…QWCdbJ')
})
