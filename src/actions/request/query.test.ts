import { expect, test } from 'bun:test'
import { getAccountTx } from '../get-account-tx.ts'
import { getNftDetail } from '../get-nft.ts'
import { getTransactionDetail } from '../get-transaction.ts'
import { type Query, readParams } from './query.ts'

function refusal(params: Parameters<typeof readParams>[0], name: string): string {
  try {
    readParams(params, [[name, '1']], { unknown: 'refuse' })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'accepted'
}

test.each([
  ['limit', "Unknown parameter 'limit'; use 'size': Maximum rows per page."],
  ['offset', "Unknown parameter 'offset'; use 'page': Page number, starting at 1; 0 is read as 1."],
  ['startblock', "Unknown parameter 'startblock'; use 'start_block': First block of the range, inclusive."],
  [
    'Address',
    "Unknown parameter 'Address'; use 'account': Account name, or up to 50 of them joined by commas. Also accepts contract ids, public keys that own tokens, and 0.",
  ],
  ['pages', "Unknown parameter 'pages'; the nearest one is 'page'."],
  ['acount', "Unknown parameter 'acount'; the nearest one is 'account'."],
  [
    '__proto__',
    "Unknown parameter '__proto__'; this action takes account, direction, counterparty, token, func_name, failed, memo, memo_prefix, min_amount, page, size, sort, start_block, end_block, start_time, end_time, start_date, end_date, start_seq, end_seq, head, after, csv, lang, format, compat, numbers.",
  ],
])('readParams: a name that the action does not have is refused, %j', (name, message) => {
  expect(refusal(getAccountTx.params, name)).toBe(message)
})

test('readParams: a parameter name of other services is explained only if the action has the parameter', () => {
  expect(refusal(getTransactionDetail.params, 'txhash')).toBe(
    "Unknown parameter 'txhash'; use 'tx_hash': Hash of the transaction.",
  )
  expect(refusal(getTransactionDetail.params, 'limit')).toBe(
    "Unknown parameter 'limit'; this action takes tx_hash, lang, format, compat, numbers.",
  )
})

test.each([
  ['id', "Unknown parameter 'id'; use 'token_id': Id of the NFT: its number in the collection, from 0."],
  ['symbol', "Unknown parameter 'symbol'; use 'collection': NFT collection: its symbol in token721.iost."],
])('readParams: names of other services for the parts of an NFT are explained, %j', (name, message) => {
  expect(refusal(getNftDetail.params, name)).toBe(message)
})

test.each([
  ['0', '0'],
  ['007', '7'],
  ['9223372036854775807', '9223372036854775807'],
])('readParams: the id of an NFT may be written as on the chain, %j', (text, id) => {
  const given: [string, string][] = [
    ['collection', 'nft_cats'],
    ['token_id', text],
  ]
  expect(readParams(getNftDetail.params, given, { unknown: 'refuse' })).toMatchObject({ token_id: id })
})

test('readParams: an address in mixed case is refused with the form that the chain has', () => {
  const refused = (query: Query): string => {
    try {
      readParams(getAccountTx.params, query, { unknown: 'refuse' })
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    return 'accepted'
  }
  const [mixed, lower] = ['0x7C92f5FE3F67B836DF744E98F2fad8e42743F9CC', '0x7c92f5fe3f67b836df744e98f2fad8e42743f9cc']
  const remedy = `The chain writes addresses in lower case: ${lower}.`
  expect(refused([['account', mixed]])).toEndWith(remedy)
  expect(refused([['account', `admin,${mixed}`]])).toEndWith(remedy)
  expect(refused([['account', lower]])).toBe('accepted')
  expect(refused([['account', `${mixed}0`]])).not.toContain('lower case:')
})

test('readParams: a list has at most 50 values, each of them valid', () => {
  const read = (accounts: string) => readParams(getAccountTx.params, [['account', accounts]], { unknown: 'refuse' })
  expect(read(Array.from({ length: 50 }, () => 'admin').join(','))['account']).toHaveLength(50)
  for (const accounts of [
    '',
    ',',
    'admin,',
    ',admin',
    'admin, busyhub',
    Array.from({ length: 51 }, () => 'admin').join(','),
  ])
    expect(() => read(accounts)).toThrow()
})
