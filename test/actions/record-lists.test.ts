import { expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainLists, shownPlainRow } from '#test/support/oracle/plain-lists.ts'
import { listCall } from '#test/support/oracle/plain-records.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'

type Params = Readonly<Record<string, string>>

const COMPAT = { compat: 'iostabc' } as const

/** All pages of a list as the old service answers them, without the extra field `amount`. */
async function wholeList(action: string, params: Params) {
  const rows: unknown[] = []
  for (let page = 1; ; page += 1) {
    const { transactions, total } = await ask(action, { ...params, page: String(page), size: '500' }, COMPAT)
    for (const { amount: _, ...row } of transactions) rows.push(row)
    if (rows.length >= total || transactions.length === 0) return { rows, total }
  }
}

test.each([
  ['moved', 2204, 'get-account-tx', ([account = '', token = '']) => ({ account, token })],
  ['failed', 100, 'get-account-tx', ([account = '']) => ({ account, failed: '1' })],
  ['called', 500, 'get-account-tx', ([account = '', ...name]) => ({ account, func_name: name.join('/') })],
  ['token', 10, 'get-token-tx', ([token = '']) => ({ token })],
] as readonly (readonly [string, number, string, (rest: readonly string[]) => Params])[])(
  'every list of rows that are %s matches the blocks',
  async (kind, atLeast, action, paramsOf) => {
    const wrong: string[] = []
    let count = 0
    for (const [list, plain] of await plainLists()) {
      const [of, ...rest] = list.split('/')
      if (of !== kind) continue
      count += 1
      const { rows, total } = await wholeList(action, paramsOf(rest))
      const expected = plain.map(shownPlainRow).toReversed()
      if (total !== expected.length || !Bun.deepEquals(rows, expected, true)) wrong.push(list)
    }
    expect(wrong).toEqual([])
    expect(count).toBeGreaterThanOrEqual(atLeast)
  },
)

test('get-account-tx: a client can follow a list by the seq of its rows, with pages of any size', async () => {
  const expected = (await plainLists()).get('account/tokenboss') ?? []
  for (const size of ['7', '500']) {
    const rows: { readonly seq: string; readonly tx_hash: string; readonly index: number }[] = []
    for (;;) {
      const start_seq = String(rows.length + 1)
      const { transactions } = await ask('get-account-tx', { account: 'tokenboss', sort: 'asc', start_seq, size })
      if (transactions.length === 0) break
      rows.push(...transactions)
    }
    expect(rows.map(({ seq, tx_hash, index }) => [seq, tx_hash, index])).toEqual(
      expected.map(({ hash, index }, at) => [at + 1, hash, index]),
    )
  }
})

test('get-account-tx: a row keeps its seq in every order and range', async () => {
  const params = { account: 'busyhub', start_seq: '9000', end_seq: '9003' }
  const rows = (await ask('get-account-tx', params)).transactions
  expect(rows.map(({ seq }: { seq: number }) => seq)).toEqual([9003, 9002, 9001, 9000])
  const first = rows.at(-1)
  const asc = { ...params, sort: 'asc', size: '1', start_block: first.block }
  expect((await ask('get-account-tx', asc)).transactions).toEqual([first])
})

test('get-account-tx: in compat an unknown name among others hides no row of theirs', async () => {
  for (const [known, mixed, unknown] of [
    [{ account: 'busyhub,admin' }, { account: 'nosuchacc,busyhub,admin' }, { account: 'nosuchacc,nosuch1' }],
    [
      { account: 'busyhub', token: 'iost,zero0' },
      { account: 'busyhub', token: 'iost,nosuch,zero0' },
      { account: 'busyhub', token: 'nosuch,nosuch1' },
    ],
  ] as const) {
    const { transactions } = await ask('get-account-tx', known, COMPAT)
    expect(transactions).toHaveLength(20)
    expect((await ask('get-account-tx', mixed, COMPAT)).transactions).toEqual(transactions)
    expect((await ask('get-account-tx', unknown, COMPAT)).transactions).toEqual([])
    expect((await refusal(ask('get-account-tx', mixed))).kind).toBe('not_found')
  }
})

test('get-contract-tx: texts over four kilobytes are returned whole, read from their transactions', async () => {
  const long = (await recordedBlocks())
    .flatMap(({ block }) => block.transactions)
    .flatMap(({ actions }) => actions)
    .filter(({ contract, data }) => contract === 'system.iost' && data.length > 4096)
    .map(({ data }) => data)
  const { rows } = await wholeList('get-contract-tx', { contract: 'system.iost', sort: 'asc' })
  expect(long.map(data => data.length)).toEqual([6781, 60_004])
  expect((rows as { data: string }[]).map(({ data }) => data).filter(data => data.length > 4096)).toEqual(long)
})

const FACTS = ['amount', 'token', 'memo', 'locked_until', 'collection', 'token_id'] as const
type Row = { readonly [name in (typeof FACTS)[number]]?: string }

test('rows of records: amount, token, memo and locked_until match the receipts', async () => {
  const seen = new Set<string>()
  for (const [key, plain] of await plainLists()) {
    if (!/^contract\/(?:Contract|token|token721|gas|ram|vote_|auth|bonus)/.test(key)) continue
    const call = listCall(key)
    const rows: Row[] = []
    for (let page = 1; rows.length < plain.length; page += 1) {
      const params = { ...call?.params, sort: 'asc', size: '500', page: String(page) }
      rows.push(...(await ask(`get-${call?.action}`, params)).transactions)
    }
    expect(rows.length).toBe(plain.length)
    for (const [at, { contract, action, facts, hash }] of plain.entries()) {
      const row = rows[at] ?? {}
      const got = Object.fromEntries(FACTS.flatMap(name => (row[name] === undefined ? [] : [[name, row[name]]])))
      if (!Bun.deepEquals(got, { ...facts }, true)) expect([hash, action, got]).toEqual([hash, action, facts])
      for (const name of Object.keys(facts)) seen.add(`${contract}/${action} ${name}`)
    }
  }
  expect([...seen].sort()).toEqual(
    [
      ...['gas.iost/pledge', 'gas.iost/unpledge', 'ram.iost/buy', 'ram.iost/sell'].map(name => `${name} amount`),
      ...['vote_producer.iost/unvote', 'vote_producer.iost/vote'].map(name => `${name} amount`),
      ...['destroy', 'issue', 'transfer', 'transferFreeze'].flatMap(name =>
        ['amount', 'token'].map(fact => `token.iost/${name} ${fact}`),
      ),
      ...['issue', 'transfer'].flatMap(name => ['collection', 'token_id'].map(fact => `token721.iost/${name} ${fact}`)),
      ...['transfer memo', 'transferFreeze memo', 'transferFreeze locked_until'].map(name => `token.iost/${name}`),
    ].sort(),
  )
})

test('rows of records: with compat=iostabc they have only the fields of the old service', async () => {
  const { transactions } = await ask('get-token-tx', { token: 'iost', size: '500' }, COMPAT)
  const names = new Set(transactions.flatMap((row: object) => Object.keys(row)))
  expect(FACTS.filter(name => names.has(name))).toEqual(['amount'])
  const votes = { contract: 'vote_producer.iost', action_name: 'vote', size: '500' }
  const rows = (await ask('get-contract-tx', votes, COMPAT)).transactions
  expect(rows.some((row: Row) => row.amount !== undefined)).toBe(false)
})
