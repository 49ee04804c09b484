import { expect, test } from 'bun:test'
import { listReadings } from './search.ts'

const HASH = '9PuqyNavM7r8jMAwpzuaEp9syibZRaURXwgHbckve53p'

test.each([
  [' user_004 ', ['user_004']],
  ['USER_004', ['USER_004', 'user_004']],
  ['"busyhub",', ['"busyhub",', 'busyhub']],
  ['ｂｕｓｙｈｕｂ', ['busyhub']],
  ['busy\u200bhub\u202e', ['busyhub']],
  ['__proto__', ['__proto__']],
  ['12345', ['12345']],
  [' \u200b ', []],
])('a searched text: %s is read as %j', (given, texts) => {
  expect(listReadings(given).map(({ text }) => text)).toEqual(texts)
})

test.each([
  ...['#4824', '# 4,824', '4 824', '4.824', 'block #4824', '区块 4824', '高度：4824', 'no. 4824', '"4,824"'],
  '(Block 4,824),',
])('a searched text: %s is first read as the number of a block', given => {
  expect(listReadings(given)[0]).toEqual({ text: '4824', kind: 'block' })
})

test.each(['48,24', '4,8245', '1.5', '4,824.5', '1_2'])('a searched text: %s is not a block number', given => {
  expect(listReadings(given).map(({ kind }) => kind)).not.toContain('block')
})

test.each([
  [`https://explorer.example/tx/${HASH}`, HASH, 'transaction'],
  [`https://explorer.example/#/txDetail/${HASH}?lang=en`, HASH, 'transaction'],
  ['http://127.0.0.1:8080/zh/account/user_004?token=iost#top', 'user_004', 'account'],
  ['explorer.example/address/user_004/transfers', 'user_004', 'account'],
  ['https://explorer.example/block/4824', '4824', 'block'],
  ['https://explorer.example/contract/token.iost', 'token.iost', 'contract'],
  ['https://explorer.example/token/iost', 'iost', 'token'],
  [`https://explorer.example/detail?hash=${HASH}`, HASH, undefined],
  ['/account/user%5F004', 'user_004', 'account'],
  ['token.iost/transfer', 'token.iost', undefined],
  [`Tx hash: ${HASH}`, HASH, 'transaction'],
  [`交易哈希：${HASH}`, HASH, 'transaction'],
  ['Account user_004', 'user_004', 'account'],
  ['@user_004', 'user_004', undefined],
])('a searched text: %s names %s', (given, text, kind) => {
  const found = listReadings(given).find(each => each.text === text)
  expect(found).toEqual(kind === undefined ? { text } : ({ text, kind } as never))
})

test('a searched text: none is slow to read or causes an error', () => {
  const long = ['#'.repeat(5_000), '1,'.repeat(3_000), '<b>'.repeat(999)]
  for (const text of ['%', '/%E0%A4%A/', 'https://', '://', ...long]) expect(listReadings(text).length).toBeLessThan(8)
})
