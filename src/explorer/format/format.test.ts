import { expect, test } from 'bun:test'
import { parseDay, startOfDay } from '#chain/time.ts'
import {
  countDecimals,
  formatGrouped,
  formatPercent,
  formatSigned,
  isLong,
  selectFirstDue,
  sortByDecimal,
  splitNumber,
  sumDecimals,
} from './amount.ts'
import { computeLevelExtent, createAxis, formatAxisLabels, selectDateLabels } from './axis.ts'
import { type CallTree, nestCalls, type ShownReceipt, splitByAction } from './calls.ts'
import { ACCOUNT_FIELDS, CONTRACT_FIELDS, nameFieldsInRefusal, RANGE_FIELDS } from './field.ts'
import { failureWords, findFailedAction } from './outcome.ts'
import { parsePeriod } from './period.ts'
import { listNftMovements } from './record.ts'
import { hasDaysOfReturn } from './state.ts'
import { cutText, revealInvisible, shortenName, toOneLine } from './text.ts'
import { formatAge, formatDuration, formatIso, formatTime, isOld } from './time.ts'

test.each([
  ['21000000000.12345678', '21,000,000,000.12345678', '+21,000,000,000.12345678'],
  ['1000.00000000', '1,000', '+1,000'],
  ['-9007199254740993', '-9,007,199,254,740,993', '−9,007,199,254,740,993'],
  ['0.5000', '0.5', '+0.5'],
  ['0.00', '0', '0'],
  ['-0.00000001', '-0.00000001', '−0.00000001'],
])('formatGrouped, formatSigned: %s loses no digit but trailing zeros', (amount, text, change) => {
  expect([formatGrouped(amount), formatSigned(amount)]).toEqual([text, change])
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

test('sortByDecimal: rows are sorted by all digits of a figure, largest first, and equal ones keep their order', () => {
  const rows = ['1.5', '-0.5', '9007199254740993.00000001', '10', '9007199254740993', '-0.25', '10.0']
  expect(sortByDecimal(rows, row => row).map(row => rows.indexOf(row))).toEqual([2, 4, 3, 6, 0, 5, 1])
})

test.each([
  ['8 7 7', '7 7'],
  // Nanosecond times exceed the exact range of a double, and texts of other lengths do not sort as numbers.
  ['1700000000000000002 1700000000000000001 1700000000000000003', '1700000000000000001'],
  ['1700000000000000002 900000000000000000', '900000000000000000'],
])('first due: of %j it is %j', (times, due) => {
  const found = selectFirstDue(times.split(' ').map(time => ({ time })))
  expect(found.map(({ time }) => time).join(' ')).toBe(due)
})

const action = (data: unknown, action_name = 'transfer', contract = 'token.iost') => ({
  ...{ contract, action_name, data: JSON.stringify(data) },
})

const receipt = (func_name: string, ...args: readonly string[]) => ({ func_name, content: JSON.stringify(args) })

test('listNftMovements: NFTs that actions and contracts issued and moved, of contracts without the unknown id; none if failed or delayed', () => {
  const mint = ['cats', 'alice', '{}']
  const actions = [action(mint, 'issue', 'token721.iost'), action([], 'sell', 'ContractShop')]
  const receipts = [mint, mint].map(each => receipt('token721.iost/issue', ...each))
  // The right to issue is no NFT.
  for (const id of ['4', 'T721issuer']) receipts.push(receipt('token721.iost/transfer', 'cats', 'alice', 'bob', id))
  receipts.push(receipt('token721.iost/create', 'cats', 'alice', '10'))
  const tx_receipt = { status_code: 'SUCCESS', returns: ['["4"]', '[]'], receipts }
  const transaction = { delay: '0', actions, tx_receipt }
  const rest = { collection: 'cats', memo: '', until: undefined }
  expect(listNftMovements(transaction)).toEqual([
    { ...rest, from: '', to: 'alice', nft: '4' },
    { ...rest, from: '', to: 'alice', nft: undefined },
    { ...rest, from: 'alice', to: 'bob', nft: '4' },
  ])
  expect(listNftMovements({ ...transaction, delay: '5' })).toEqual([])
  expect(listNftMovements({ ...transaction, tx_receipt: { ...tx_receipt, status_code: 'RUNTIME_ERROR' } })).toEqual([])
})

test('times: chain times are shown in UTC and as an age in words; an age of a day or more is old', () => {
  expect(formatIso('1542193445123456789')).toBe('2018-11-14T11:04:05.123Z')
  expect(formatTime('2018-11-14T11:04:05.123Z')).toBe('2018-11-14 11:04:05')
  const now = Date.parse('2018-11-14T11:04:05.000Z')
  expect(formatAge('2018-11-14T11:04:04.000Z', now, 'en')).toBe('1 second ago')
  expect(formatAge('2018-11-14T11:06:05.000Z', now, 'en')).toBe('in 2 minutes')
  expect(formatAge('2018-11-11T11:04:05.000Z', now, 'zh')).toBe('3 天前')
  expect(['2018-11-13T11:04:05.000Z', '2018-11-13T11:04:06.000Z'].map(iso => isOld(iso, now))).toEqual([true, false])
})

const MARKED = `a${'\u0300'.repeat(4)}`

test.each([
  ['a\u202eb\u0000c\u200bd\ud800', 'a\\u{202e}b\\u{0}c\\u{200b}d\\u{d800}'],
  ['two\r\nlines\r', 'two\nlines\\u{d}'],
  // A zero-width joiner is harmless only between the parts of an emoji.
  ['a\u200db 😀\u200d \u200d😀', 'a\\u{200d}b 😀\\u{200d} \\u{200d}😀'],
  // Letters without a shape, and selectors that select nothing.
  ['a\u3164b\u2800\uffa0\u115f\ufe0f', 'a\\u{3164}b\\u{2800}\\u{ffa0}\\u{115f}\\u{fe0f}'],
  // Further marks would be drawn over the lines around them.
  [`${MARKED}\u0300b`, `${MARKED}\\u{300}b`],
  [`${MARKED}${'\u0300'.repeat(996)}`, `${MARKED}${'\\u{300}'.repeat(996)}`],
  ...['two\nlines 你好 😀', '👩\u200d🚀', '🏳\ufe0f\u200d🌈', '👩🏽\u200d💻', '👨\u200d👩'].map(each => [each, each]),
  ...['❤\ufe0f', '1\ufe0f\u20e3', '葛\u{e0100}', 'שָׁלוֹם', 'ที่นี่', 'Việt', '각'].map(each => [each, each]),
])('revealInvisible: %j is shown as %j', (text = '', shown = '') => {
  expect(revealInvisible(text)).toBe(shown)
})

test('toOneLine: the result has no line ends or invisible characters, and a limited length', () => {
  expect(toOneLine(' a\n\t b\u202e ', 20)).toBe('a b\\u{202e}')
  expect(toOneLine('abcd', 4)).toBe('abcd')
  expect(toOneLine('abcde', 4)).toBe('abc…')
  expect(toOneLine('ab😀de', 4)).toBe('ab…')
  expect(toOneLine('\u202e'.repeat(65_536), 10)).toBe('\\u{202e}\\…')
})

test('cutText, shortenName: letters stay whole, and a long name shows its begin and end', () => {
  expect(cutText('abc', 3)).toEqual({ text: 'abc', isWhole: true })
  expect(cutText('ab😀', 3)).toEqual({ text: 'ab', isWhole: false })
  expect(cutText('ab\r\nc', 3)).toEqual({ text: 'ab', isWhole: false })
  expect(shortenName('producer000')).toBe('producer000')
  expect(shortenName('HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ')).toBe('HYZKEf2mtZ…QWCdbJ')
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

const at = { height: 1, hash: 'block', lib: 1, time: startOfDay(parseDay('2026-11-21') ?? 0) + 1n }

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

test('hasDaysOfReturn: an annual return needs 30 days of rewards', () => {
  const now = BigInt(Date.parse('2026-11-30T12:00:00.000Z')) * 1_000_000n
  expect(hasDaysOfReturn(undefined, now)).toBe(false)
  expect(hasDaysOfReturn('2026-10-31T12:00:00.001Z', now)).toBe(false)
  expect(hasDaysOfReturn('2026-10-31T12:00:00.000Z', now)).toBe(true)
})

test.each([
  ['counterparty', CONTRACT_FIELDS, "Parameter 'counterparty' is 'x'; it must be", "“Party” is 'x'; it must be"],
  ['counterparty', RANGE_FIELDS, "Parameter 'counterparty' is 'x'.", "Parameter 'counterparty' is 'x'."],
  ['token', ACCOUNT_FIELDS, "Parameters 'failed' and 'token' cannot", '“Failed only” and “Token” cannot'],
  ['token', ACCOUNT_FIELDS, "参数 'failed' 与 'token' 不能同时使用。", '“只看失败”与“代币”不能同时使用。'],
  // Values and things of the chain that are named like parameters keep their names.
  ['start_block', ACCOUNT_FIELDS, "Parameter 'start_block' is 'start_block'; it", "“From block” is 'start_block'; it"],
  ['token', ACCOUNT_FIELDS, "参数 'token' 的第 1 个值为 'token'；", "“代币”的第 1 个值为 'token'；"],
  ['', ACCOUNT_FIELDS, "Account 'failed' does not exist at block 7.", "Account 'failed' does not exist at block 7."],
] as const)('nameFieldsInRefusal: a parameter has the label of a field of the page: %#', (...given) => {
  const [parameter, fields, message, said] = given
  const details: Readonly<Record<string, string>> = parameter === '' ? {} : { parameter }
  const lang = message.startsWith('参数') ? 'zh' : 'en'
  expect(nameFieldsInRefusal({ lang }, { message, details }, fields)).toBe(said)
})

const labels = (least: number, most: number, { isCount = false, lang = 'en' as 'en' | 'zh' } = {}) =>
  formatAxisLabels(createAxis({ least, most }, isCount), lang)

test('an axis has labels at round values that enclose the whole plot', () => {
  expect(labels(0, 7)).toEqual(['0', '5', '10'])
  expect(labels(0, 21_337)).toEqual(['0', '10K', '20K', '30K'])
  expect(labels(0, 21_337, { lang: 'zh' })).toEqual(['0', '1万', '2万', '3万'])
  expect(labels(-3, 14)).toEqual(['−10', '0', '10', '20'])
  expect(labels(0, 0.000_12)).toEqual(['0', '0.00005', '0.0001', '0.00015'])
  expect(labels(242_989.8, 242_990.3)).toEqual(['242,989.8', '242,990', '242,990.2', '242,990.4'])
  for (const [least, most] of [
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
  expect(computeLevelExtent([100, 100])).toEqual({ least: 0, most: 100 })
  expect(computeLevelExtent([100, 101])).toEqual({ least: 100, most: 101 })
  expect(computeLevelExtent([0, 0])).toEqual({ least: 0, most: 0 })
})

test('a few dates have labels, including the last one', () => {
  const placesOf = (count: number) => {
    const days = Array.from({ length: count }, (_, at) => new Date(Date.UTC(2026, 0, at + 1)).toISOString())
    return selectDateLabels(days.map(day => day.slice(0, 10))).map(({ at }) => at)
  }
  expect([0, 1, 4].map(placesOf)).toEqual([[], [0], [0, 1, 2, 3]])
  expect(placesOf(30)).toEqual([9, 19, 29])
  expect(placesOf(31)).toEqual([0, 10, 20, 30])
})

test('labels of days have no year, and times, which are not at equal distances, are numbered', () => {
  const textsOf = (...dates: readonly string[]) => selectDateLabels(dates).map(({ text }) => text)
  expect(textsOf('2026-11', '2026-12')).toEqual(['2026-11', '2026-12'])
  expect(textsOf('2026-11-21', '2026-11-22')).toEqual(['11-21', '11-22'])
  expect(textsOf('2026-11-21 08:23:28', '2026-11-21 08:23:40', '2026-11-21 08:25:19')).toEqual(['1', '2', '3'])
})

const PAY = action(['iost', 'user_009', 'user_029', '99999999', 'b'])
const MESSAGE =
  'running action Action{Contract: token.iost, ActionName: transfer, Data: ["iost","user_009","user_029","99999999","b... error: balance not enough 1217.6 < 99999999'

const OTHERS = action(['a', 'b'], 'take', 'ContractX')
const CAUGHT = 'Uncaught exception: Error: '
const ALLOWED = 'spending limit allows.'
const TOO_LARGE = 'The amount was too large: at most 10 was possible.'

test('findFailedAction: the action is found whose arguments begin as in the node’s message', () => {
  const other = action(['iost', 'user_009', 'user_029', '1', 'a'])
  expect(findFailedAction(MESSAGE, [other, PAY])).toBe(1)
  expect(findFailedAction(MESSAGE, [PAY, PAY])).toBe(0)
  expect(findFailedAction(MESSAGE, [other])).toBe(undefined)
  expect(findFailedAction(MESSAGE, [PAY, action(['iost', 'user_009', 'user_029', '99999999', 'b2'])])).toBe(undefined)
  expect(findFailedAction('out of gas', [PAY])).toBe(undefined)
  const whole = 'Action{Contract: token.iost, ActionName: recycle, Data: ["x"]}\n error: permission denied'
  expect(findFailedAction(`running action ${whole}`, [action(['xy'], 'recycle'), action(['x'], 'recycle')])).toBe(1)
})

test.each([
  ['balance not enough 1217.6 < 99999999', PAY, 'user_009 had 1,217.6 iost, and 99,999,999 was needed.'],
  // The chain ignores the text after the arguments.
  ['balance not enough 0 < 5', { ...PAY, data: `${PAY.data} // b` }, 'user_009 had 0 iost, and 5 was needed.'],
  ['balance not enough 0 < 5', undefined, 'The balance was not enough: 0 of the 5 needed.'],
  ['balance not enough 0 < 5', OTHERS, 'The balance was not enough: 0 of the 5 needed.'],
  ['token not exists', action(['nosuch', 'a'], 'issue'), 'The token nosuch did not exist.'],
  [`${CAUGHT}${CAUGHT}amount too large. max amount = 10`, undefined, TOO_LARGE],
  ['out of gas', undefined, 'The transaction used up its gas limit before it ended.'],
  ['token iost exceed amountLimit in tx. need 5', PAY, `It would have moved 5 iost, more than the signer's ${ALLOWED}`],
  [`${CAUGHT}require auth failed.`, undefined, 'The signers had no permission for this action.'],
  ['invalid account nobody_0', PAY, 'The account nobody_0 did not exist.'],
])('failureWords: %s', (reason, of, words) => {
  expect(failureWords(reason, of)?.en).toBe(words)
  expect(failureWords(reason, of)?.zh).toMatch(/\p{Script=Han}/u)
})

test('failureWords: a contract’s own message is unchanged, and names cannot hide text', () => {
  const own = ['', 'fake balance not enough 0 < 1', 'balance not enough 0 < 1 <b>', 'permission denied: user_029']
  for (const reason of own) expect(failureWords(`${CAUGHT}${reason}`, undefined)).toBe(undefined)
  const hidden = action(['iost', 'a\u202eb', 'c', '1', ''])
  expect(failureWords('balance not enough 0 < 1', hidden)?.en).toBe('a\\u{202e}b had 0 iost, and 1 was needed.')
})

const paid = receipt('token.iost/transfer', 'iost', 'alice', 'gas.iost', '10', '')
const pledged = receipt('gas.iost/pledge', 'alice', 'bobby', '10')
const signUp = receipt('auth.iost/signUp', 'bobby', 'KEY', 'KEY')
const sent = receipt('token.iost/transfer', 'iost', 'alice', 'carol', '1', '')
const own = receipt('ContractX/own', 'anything')

/** The names of calls, with inner calls in parentheses. */
const drawn = (trees: readonly CallTree[]): string =>
  trees
    .map(({ func_name, inner }) => `${func_name.split('/')[1]}${inner.length === 0 ? '' : `(${drawn(inner)})`}`)
    .join(' ')

test('nestCalls: the calls of a system contract are placed inside its receipt, and what only looks like that is not', () => {
  expect(drawn(nestCalls([paid, pledged, signUp]))).toBe('signUp(pledge(transfer))')
  expect(drawn(nestCalls([sent, paid, pledged, own]))).toBe('transfer pledge(transfer) own')
  expect(drawn(nestCalls([sent, pledged]))).toBe('transfer pledge')
  expect(drawn(nestCalls([pledged, { ...signUp, content: 'no list' }]))).toBe('pledge signUp')
  expect(drawn(nestCalls([paid, { ...pledged, func_name: 'ContractX/pledge' }]))).toBe('transfer pledge')
  expect(nestCalls([])).toEqual([])
})

const divided = (actions: Parameters<typeof splitByAction>[0], receipts: readonly ShownReceipt[]) =>
  splitByAction(actions, nestCalls(receipts))?.map(drawn)

const pledge = action(['alice', 'bobby', '10'], 'pledge', 'gas.iost')
const send = action(['iost', 'alice', 'carol', '1.0', ''], 'transfer', 'token.iost')
const play = action(['x'], 'play', 'ContractX')

test('splitByAction: a single action has all receipts, several have those that can only be theirs', () => {
  expect(divided([play], [sent, own])).toEqual(['transfer own'])
  const all = divided([pledge, play, send], [paid, pledged, sent, own, sent])
  expect(all).toEqual(['pledge(transfer)', 'transfer own', 'transfer'])
  expect(divided([play, play], [])).toEqual(['', ''])
  // An ambiguous or impossible division gives no result.
  expect(divided([play, play], [own])).toBeUndefined()
  expect(divided([play, send, play], [sent, sent])).toBeUndefined()
  expect(divided([send, send], [sent])).toBeUndefined()
  expect(divided([], [sent])).toBeUndefined()
})
