import { expect, test } from 'bun:test'
import { refusal } from '#test/support/refusal.ts'
import { askText } from '#test/support/stores/ask.ts'

/** Short answers on the recorded chain, character by character: empty lists, pages beyond the end, and missing things. */

const HUGE = '9999999999999999999'
const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'

type Given = { readonly [name: string]: string }
const COMPAT = { compat: 'iostabc' } as const

/** The text of an empty page of a list. */
const empty = (list: string, page = '1', size = 20, total = 0): string =>
  `{"${list}":[],"page":${page},"size":${size},"total":${total}}`

const EMPTY: readonly (readonly [action: string, asked: Given, text: string])[] = [
  ['get-account-nfts', { account: 'admin' }, empty('nfts')],
  ...['99999', '9007199254740993', HUGE].map(
    page =>
      ['get-account-tx', { account: 'busyhub', page, size: '500' }, empty('transactions', page, 500, 18_261)] as const,
  ),
  ['get-account-tx', { account: 'busyhub', token: 'neverissued' }, empty('transactions')],
  ...['token.iost/nosuch', 'domain.iost/link', 'token.iost/__proto__'].map(
    func_name => ['get-account-tx', { account: 'busyhub', func_name }, empty('transactions')] as const,
  ),
  ['get-collection-list', { page: HUGE, size: '500' }, empty('collections', HUGE, 500, 2)],
  ['get-contract-tx', { contract: 'token.iost', action_name: 'neverCalled' }, empty('transactions')],
  ['get-producer-list', { page: HUGE, size: '500', sort: 'asc' }, empty('producers', HUGE, 500, 13)],
  ['get-producer-list', { page: HUGE, size: '500', sort: 'desc' }, empty('producers', HUGE, 500, 13)],
  ['get-subaccount-list', { account: 'foundation' }, empty('accounts')],
  ['get-token-holder', { token: 'neverissued' }, empty('holders')],
  ['get-token-holder', { token: 'iost', page: '99', size: '500' }, empty('holders', '99', 500, 192)],
  ['get-token-tx', { token: 'neverissued' }, empty('transactions')],
  ['get-transaction-action', { tx_hash: '9psjd8sKVxFWh4nDmVhgkQNemFxU8J4b5GapXCyykt4A' }, empty('actions', '1', 0)],
  ['get-wealth-list', { page: HUGE, size: '500' }, empty('wealth', HUGE, 500, 187)],
]

test.each(EMPTY)('%s: %j has no rows', async (action, asked, text) => {
  expect(await askText(action, asked)).toBe(text)
})

const WORDS = {
  Account: '账户',
  Block: '区块',
  Collection: '合集',
  Contract: '合约',
  Producer: '生产者',
  Token: '代币',
  Transaction: '交易',
} as const

/** The missing thing, and the answer to the same call with compat=iostabc if it has one. */
const MISSING: readonly (readonly [
  action: string,
  asked: Given,
  of: keyof typeof WORDS,
  id: string,
  compat?: string,
])[] = [
  ['get-account-assets', { account: 'neverseen.iost' }, 'Account', 'neverseen.iost'],
  ['get-account-balance', { account: 'neverseen.iost' }, 'Account', 'neverseen.iost'],
  ['get-account-detail', { account: 'nosuchacc' }, 'Account', 'nosuchacc', '{}'],
  ['get-account-nfts', { account: 'nosuchacc' }, 'Account', 'nosuchacc'],
  ['get-account-tx', { account: 'nosuchacc', size: '50' }, 'Account', 'nosuchacc', empty('transactions', '1', 50)],
  ['get-account-tx', { account: 'busyhub', token: 'nosuch' }, 'Token', 'nosuch', empty('transactions')],
  ['get-account-tx', { account: 'nosuchacc', token: 'iost' }, 'Account', 'nosuchacc', empty('transactions')],
  [
    'get-account-tx',
    { account: 'busyhub', func_name: 'nosuch.iost/transfer' },
    'Contract',
    'nosuch.iost',
    empty('transactions'),
  ],
  ['get-balances', { accounts: 'admin', token: 'nothing' }, 'Token', 'nothing', '{}'],
  ['get-block-detail', { number: '4852' }, 'Block', '4852', '{}'],
  ['get-block-detail', { number: '999999999999' }, 'Block', '999999999999'],
  ['get-block-detail', { number: HUGE }, 'Block', HUGE],
  ['get-block-tx', { hash: HASH }, 'Block', HASH, empty('transactions', '1', 0)],
  ['get-collection-detail', { collection: 'nosuch' }, 'Collection', 'nosuch'],
  ['get-collection-nfts', { collection: 'iost' }, 'Collection', 'iost'],
  ['get-contract-abi', { contract: `Contract${HASH}` }, 'Contract', `Contract${HASH}`, empty('abis', '1', 0)],
  ['get-contract-code', { contract: `Contract${HASH}` }, 'Contract', `Contract${HASH}`, '{}'],
  ['get-contract-detail', { contract: 'nosuch.iost' }, 'Contract', 'nosuch.iost', '{}'],
  ['get-contract-tx', { contract: 'nosuch.iost' }, 'Contract', 'nosuch.iost', empty('transactions')],
  ['get-daily-statistics', { token: 'no_such' }, 'Token', 'no_such'],
  ['get-daily-statistics', { account: 'no_such_one' }, 'Account', 'no_such_one'],
  ['get-daily-statistics', { account: 'admin', token: 'no_such' }, 'Token', 'no_such'],
  ['get-producer-detail', { producer: 'prod_11' }, 'Producer', 'prod_11'],
  ['get-producer-detail', { producer: 'admin' }, 'Producer', 'admin', '{}'],
  ['get-producer-registration', { producer: 'busyhub' }, 'Producer', 'busyhub'],
  ['get-producer-voter', { producer: 'busyhub' }, 'Producer', 'busyhub', empty('voters', '1', 0)],
  ['get-producer-votes', { producer: 'busyhub' }, 'Producer', 'busyhub', empty('days', '1', 0)],
  ['get-producer-votes', { producer: 'prod_11' }, 'Producer', 'prod_11', empty('days', '1', 0)],
  ['get-reward-history', { producer: 'nosuchacc' }, 'Producer', 'nosuchacc'],
  ['get-subaccount-list', { account: 'nosuchacc', size: '7' }, 'Account', 'nosuchacc', empty('accounts', '1', 7)],
  ['get-token-detail', { token: 'nosuch' }, 'Token', 'nosuch'],
  ['get-token-holder', { token: 'nosuch', page: '3', size: '5' }, 'Token', 'nosuch', empty('holders', '3', 5)],
  ['get-token-list', { account: 'nosuchacc' }, 'Account', 'nosuchacc', empty('tokens', '1', 0)],
  ['get-token-tx', { token: 'nosuch' }, 'Token', 'nosuch', empty('transactions')],
  ['get-transaction-action', { tx_hash: HASH }, 'Transaction', HASH],
  ['get-transaction-receipt', { tx_hash: HASH }, 'Transaction', HASH],
]

test.each(MISSING)('%s: %j is not found', async (...[action, asked, of, id, compat]) => {
  expect(await refusal(askText(action, asked))).toEqual({
    kind: 'not_found',
    en: `${of} '${id}' does not exist at block 4851.`,
    zh: `${WORDS[of]} '${id}' 不存在（截至区块 4851）。`,
  })
  if (compat !== undefined) expect(await askText(action, asked, COMPAT)).toBe(compat)
})
