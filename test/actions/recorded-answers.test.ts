import { expect, test } from 'bun:test'
import { askAtOneHeight } from '#actions/ask.ts'
import { getAccountBalance } from '#actions/get-balance.ts'
import { getContractTx } from '#actions/get-contract.ts'
import { Exact } from '#chain/json.ts'
import { withActionNames } from '#test/support/action-names.ts'
import { refusal } from '#test/support/refusal.ts'
import { askQuery, askText } from '#test/support/stores/ask.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { systemClock } from '#time/clock.ts'
import cases from './bad-requests.json'

/** Short answers on the recorded chain, character by character: empty lists, missing things, and equal calls. */

const HUGE = '9999999999999999999'
const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'

type Given = { readonly [name: string]: string }
const COMPAT = { compat: 'iostabc' } as const

const empty = (list: string, page = '1', size = 20, total = 0): string =>
  `{"${list}":[],"page":${page},"size":${size},"total":${total}}`

test.each<readonly [action: string, asked: Given, text: string]>([
  ['get-account-nfts', { account: 'admin' }, empty('nfts')],
  ...['99999', '9007199254740993', HUGE].map(
    page =>
      ['get-account-tx', { account: 'busyhub', page, size: '500' }, empty('transactions', page, 500, 18_261)] as const,
  ),
  ['get-account-tx', { account: 'busyhub', token: 'neverissued' }, empty('transactions')],
  ['get-account-tx', { account: '0' }, empty('transactions')],
  ...['18262', '0', HUGE].map(
    seq => ['get-account-tx', { account: 'busyhub', start_seq: seq, end_seq: seq }, empty('transactions')] as const,
  ),
  ['get-base-token-list', { page: HUGE, size: '500' }, empty('tokens', HUGE, 500, 28)],
  ['get-block-list', { page: HUGE }, empty('blocks', HUGE, 20, 4852)],
  ...['token.iost/nosuch', 'domain.iost/link', 'token.iost/__proto__'].map(
    func_name => ['get-account-tx', { account: 'busyhub', func_name }, empty('transactions')] as const,
  ),
  ['get-collection-list', { page: HUGE, size: '500' }, empty('collections', HUGE, 500, 2)],
  ['get-contract-list', { page: HUGE }, empty('contracts', HUGE, 20, 23)],
  ['get-contract-tx', { contract: 'token.iost', action_name: 'neverCalled' }, empty('transactions')],
  ['get-producer-list', { page: HUGE, size: '500', sort: 'asc' }, empty('producers', HUGE, 500, 13)],
  ['get-producer-list', { page: HUGE, size: '500', sort: 'desc' }, empty('producers', HUGE, 500, 13)],
  ['get-subaccount-list', { account: 'foundation' }, empty('accounts')],
  ['get-token-holder', { token: 'neverissued' }, empty('holders')],
  ['get-token-holder', { token: 'iost', page: '99', size: '500' }, empty('holders', '99', 500, 192)],
  ['get-token-tx', { token: 'neverissued' }, empty('transactions')],
  ['get-transaction-list', { page: HUGE, size: '500' }, empty('transactions', HUGE, 500, 57_738)],
  ['get-transaction-action', { tx_hash: '9psjd8sKVxFWh4nDmVhgkQNemFxU8J4b5GapXCyykt4A' }, empty('actions', '1', 0)],
  ['get-wealth-list', { page: HUGE, size: '500' }, empty('wealth', HUGE, 500, 187)],
])('%s: %j has no rows', async (action, asked, text) => {
  expect(await askText(action, asked)).toBe(text)
})

const ID = 'Contractjnq6aRFWX1qhc1pSFFAN3ZdG7zb4kQvWGMWzxKjozKJ'
const BARE = ID.slice('Contract'.length)
const BLOCK_HASH = 'Ge86k5PwohmYV7kRG2PiaG4z8JoT9f6B7WSAsfqm8JVf'

/** Two ways to ask for the same: ids of contracts with and without prefix, aliases, defaults and cache busters. */
test.each<readonly [action: string, asked: Given, other: Given]>([
  ['get-account-activity', { account: BARE }, { account: ID }],
  ['get-account-balance', { account: BARE }, { account: ID }],
  ['get-account-tx', { account: BARE }, { account: ID }],
  ['get-account-tx', { account: 'busyhub', _: '1', t: '', timestamp: 'x' }, { account: 'busyhub' }],
  ['get-account-tx', { account: 'busyhub', failed: '0' }, { account: 'busyhub' }],
  ['get-account-tx', { account: 'busyhub', token: 'iost', failed: '0' }, { account: 'busyhub', token: 'iost' }],
  ['get-block-detail', { number: '1200', hash: BLOCK_HASH }, { number: '1200' }],
  ['get-contract-detail', { contract: BARE }, { contract: ID }],
  ['get-contract-tx', { contract: BARE }, { contract: ID }],
  ['get-producer-voter', { account: 'prod_01' }, { producer: 'prod_01' }],
  ['get-producer-voter', { account: 'prod_01', producer: 'prod_01' }, { producer: 'prod_01' }],
  ['get-producer-voter', { producer: 'prod_01', page: '1' }, { producer: 'prod_01', page: '1', size: '20' }],
  ['get-wealth-list', { page: '0' }, { page: '1' }],
])('%s: %j is the same as %j', async (action, asked, other) => {
  expect(await askText(action, asked)).toBe(await askText(action, other))
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
test.each<readonly [action: string, asked: Given, of: keyof typeof WORDS, id: string, compat?: string]>([
  ['get-account-assets', { account: 'neverseen.iost' }, 'Account', 'neverseen.iost'],
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
  ['get-producer-detail', { producer: 'admin' }, 'Producer', 'admin', '{}'],
  ['get-producer-registration', { producer: 'busyhub' }, 'Producer', 'busyhub'],
  ['get-producer-voter', { producer: 'busyhub' }, 'Producer', 'busyhub', empty('voters', '1', 0)],
  ['get-producer-votes', { producer: 'busyhub' }, 'Producer', 'busyhub', empty('days', '1', 0)],
  ['get-producer-votes', { producer: 'prod_11' }, 'Producer', 'prod_11', empty('days', '1', 0)],
  ['get-reward-history', { producer: 'nosuchacc' }, 'Producer', 'nosuchacc'],
  ['get-subaccount-list', { account: 'nosuchacc', size: '7' }, 'Account', 'nosuchacc', empty('accounts', '1', 7)],
  ['get-token-holder', { token: 'nosuch', page: '3', size: '5' }, 'Token', 'nosuch', empty('holders', '3', 5)],
  ['get-token-list', { account: 'nosuchacc' }, 'Account', 'nosuchacc', empty('tokens', '1', 0)],
  ['get-token-tx', { token: 'nosuch' }, 'Token', 'nosuch', empty('transactions')],
])('%s: %j is not found', async (...[action, asked, of, id, compat]) => {
  expect(await refusal(askText(action, asked))).toEqual({
    kind: 'not_found',
    en: `${of} '${id}' does not exist at block 4851.`,
    zh: `${WORDS[of]} '${id}' 不存在（截至区块 4851）。`,
  })
  if (compat !== undefined) expect(await askText(action, asked, COMPAT)).toBe(compat)
})

for (const { query, en, zh } of cases)
  test(`answer: refuses ?${query}`, async () => {
    const pairs = [...new URLSearchParams(query)]
    expect(await refusal(askQuery(pairs))).toEqual({
      kind: 'bad_request',
      en: withActionNames(en),
      zh: withActionNames(zh),
    })
  })

const deps = {
  store: await loadedStore(),
  node: undefined,
  prices: { get: () => undefined },
  profiles: { get: () => undefined },
  clock: systemClock,
}
const running = { signal: AbortSignal.timeout(600_000) }

test('ask: calls answer at one height, and amounts and arguments keep all their digits', async () => {
  const { balance, values, height } = await askAtOneHeight(
    deps,
    async ({ ask, at }) => {
      const given = { contract: 'token.iost', action_name: 'transferFreeze', size: '500' }
      const [{ balance }, { transactions }] = await Promise.all([
        ask(getAccountBalance, { account: 'busyhub' }),
        ask(getContractTx, given),
      ])
      return { balance, values: transactions.flatMap(row => row.data), height: at.height }
    },
    running,
  )
  expect([height, balance]).toEqual([4851, '59985299.93557391'])
  // Times in nanoseconds exceed the precision of a double.
  const exact = values.filter(value => value instanceof Exact).map(({ text }) => text)
  expect(exact.length).toBeGreaterThan(0)
  for (const text of exact)
    expect([text, /^\d{19}$/.test(text), String(Number(text)) === text]).toEqual([text, true, false])
})

test('ask: a request that the API refuses fails in the same way', async () => {
  const asked = (given: Readonly<Record<string, string>>) =>
    refusal(askAtOneHeight(deps, ({ ask }) => ask(getAccountBalance, given), running))
  expect((await asked({ account: 'nobodyhere' })).kind).toBe('not_found')
  expect((await asked({ account: 'no name' })).kind).toBe('bad_request')
  expect((await asked({ account: 'busyhub', other: '1' })).kind).toBe('bad_request')
})

test('get-overview: prices keep the digits of their source', async () => {
  const price = { usd: '0.00512345678901234567', cny: '0.037', rank: 512, time: '2026-11-21T08:00:00.000Z' }
  expect(await askText('get-overview', {}, { deps: { prices: { get: () => price } } })).toContain(
    '"usd_price":0.00512345678901234567,"cny_price":0.037,"rank":512,"price_time":"2026-11-21T08:00:00.000Z"',
  )
})
