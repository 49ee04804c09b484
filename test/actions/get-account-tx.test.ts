import { describe, expect, test } from 'bun:test'
import { plainLists, shownPlainRow } from '#test/support/oracle/plain-lists.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

type Filter = Readonly<Record<string, string>>

/** The lists of a kind that differ from the blocks. The rest of a key is the account and the arguments of `filter`. */
async function wrongLists(kind: string, filter: (rest: readonly string[]) => Filter) {
  const wrong: string[] = []
  let count = 0
  for (const [list, plain] of await plainLists()) {
    const [of, account = '', ...rest] = list.split('/')
    if (of !== kind) continue
    count += 1
    const { rows, total } = await wholeList(account, 500, 'desc', filter(rest))
    const expected = plain.map(shownPlainRow).toReversed()
    if (total !== expected.length || !Bun.deepEquals(rows, expected, true)) wrong.push(list)
  }
  return { count, wrong }
}

/** All pages of an account's list, joined, without the extra field `amount`. */
async function wholeList(account: string, size: number, sort: 'asc' | 'desc', filter: Filter = {}) {
  const rows: unknown[] = []
  for (let page = 1; ; page += 1) {
    const params = { account, ...filter, page: String(page), size: String(size), sort }
    const { transactions, total } = await ask('get-account-tx', params, { compat: 'iostabc' })
    for (const { amount: _, ...row } of transactions) rows.push(row)
    if (rows.length >= total || transactions.length === 0) return { rows, total }
  }
}

describe('get-account-tx', () => {
  test('get-account-tx: a row of the recorded chain has data as an array and no contract', async () => {
    expect(await askText('get-account-tx', { account: 'busyhub', size: '1' })).toBe(
      '{"transactions":[{"seq":18261,"action_name":"transfer","data":["iost","busyhub","user_001","0.5","the last one"],"block":"4824","tx_hash":"EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e","from":"busyhub","to":"user_001","created_at":"2026-11-21T08:25:19.000Z","index":0,"return":"[]","status_code":"SUCCESS","amount":"0.5","token":"iost","memo":"the last one"}],"page":1,"size":1,"total":18261}',
    )
  })
  test('get-account-tx: a client can follow a list by the seq of its rows, with pages of any size', async () => {
    const expected = (await plainLists()).get('account/tokenboss') ?? []
    for (const size of [1, 7, 500]) {
      const rows: { readonly seq: string; readonly tx_hash: string; readonly index: number }[] = []
      for (;;) {
        const start_seq = String(rows.length + 1)
        const params = { account: 'tokenboss', sort: 'asc', start_seq, size: String(size) }
        const { transactions } = await ask('get-account-tx', params)
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
    const [first] = rows.toReversed()
    const asc = { ...params, sort: 'asc', size: '1', start_block: first.block }
    expect((await ask('get-account-tx', asc)).transactions).toEqual([first])
    for (const [start_seq, end_seq] of [
      ['18262', '18300'],
      ['0', '0'],
      ['18262', '9999999999999999999'],
    ] as const)
      expect(await askText('get-account-tx', { account: 'busyhub', start_seq, end_seq })).toBe(
        '{"transactions":[],"page":1,"size":20,"total":0}',
      )
  })
  test('get-account-tx: in compat data is text, contract is present and seq is absent', async () => {
    const [row] = (await ask('get-account-tx', { account: 'busyhub', size: '1' }, { compat: 'iostabc' })).transactions
    expect(row).not.toHaveProperty('seq')
    expect(row.data).toBe('["iost","busyhub","user_001","0.5","the last one"]')
    expect(row.contract).toBe('token.iost')
  })
  test('get-account-tx: large numbers in data keep their digits', async () => {
    const created = (await plainLists())
      .get('account/token.iost')
      ?.find(({ data }) => data.includes(',9223372036854775807,'))
    const account = created?.publisher ?? ''
    const texts: string[] = []
    for (let page = 1; page <= 5; page += 1)
      texts.push(await askText('get-account-tx', { account, size: '500', sort: 'asc', page: `${page}` }))
    expect(texts.join('')).toContain(',9223372036854775807,')
  })
  test('get-account-tx: accepts contract ids with and without prefix, system contracts and 0', async () => {
    const id = 'Contractjnq6aRFWX1qhc1pSFFAN3ZdG7zb4kQvWGMWzxKjozKJ'
    const text = await askText('get-account-tx', { account: id })
    expect(await askText('get-account-tx', { account: id.slice('Contract'.length) })).toBe(text)
    expect((await ask('get-account-tx', { account: 'gas.iost' })).total).toBe(
      (await plainLists()).get('account/gas.iost')?.length,
    )
    expect((await ask('get-account-tx', { account: '0' })).transactions).toEqual([])
  })
  test('get-account-tx: cache busters and the case of module and action are ignored', async () => {
    const text = await askText('get-account-tx', { account: 'busyhub', _: '1', t: '', timestamp: 'x' })
    expect(text).toBe(await askText('get-account-tx', { account: 'busyhub' }))
  })
  test('get-account-tx: in compat an unknown name among others hides no row of theirs', async () => {
    const compat = { compat: 'iostabc' } as const
    for (const [known, mixed, unknown] of [
      [{ account: 'busyhub,admin' }, { account: 'nosuchacc,busyhub,admin' }, { account: 'nosuchacc,nosuch1' }],
      [
        { account: 'busyhub', token: 'iost,zero0' },
        { account: 'busyhub', token: 'iost,nosuch,zero0' },
        { account: 'busyhub', token: 'nosuch,nosuch1' },
      ],
    ] as const) {
      const { transactions } = await ask('get-account-tx', known, compat)
      expect(transactions).toHaveLength(20)
      expect((await ask('get-account-tx', mixed, compat)).transactions).toEqual(transactions)
      expect((await ask('get-account-tx', unknown, compat)).transactions).toEqual([])
      expect((await refusal(ask('get-account-tx', mixed))).kind).toBe('not_found')
    }
  })
  test('get-account-tx: with a token, every list has the rows that moved it to or from the account', async () => {
    const found = await wrongLists('moved', ([token = '']) => ({ token }))
    expect(found).toEqual({ count: 2204, wrong: [] })
  })
  test('get-account-tx: with failed=1, every list has the rows of failed transactions', async () => {
    const { count, wrong } = await wrongLists('failed', () => ({ failed: '1' }))
    expect({ many: count > 100, wrong }).toEqual({ many: true, wrong: [] })
    expect(await askText('get-account-tx', { account: 'busyhub', failed: '0' })).toBe(
      await askText('get-account-tx', { account: 'busyhub' }),
    )
  })
  test('get-account-tx: with func_name, every list has the calls of that action that the account sent', async () => {
    const { count, wrong } = await wrongLists('called', ([contract, action]) => ({
      func_name: `${contract}/${action}`,
    }))
    expect({ many: count > 500, wrong }).toEqual({ many: true, wrong: [] })
  })
  test('get-account-tx: filters combine with ranges, orders and pages of any size', async () => {
    const kinds = { failed: { failed: '1' }, called: { func_name: 'token.iost/transfer' } }
    for (const [kind, filter] of Object.entries(kinds)) {
      const key = kind === 'failed' ? 'failed/busyhub' : 'called/busyhub/token.iost/transfer'
      const expected = ((await plainLists()).get(key) ?? []).map(shownPlainRow)
      expect([kind, expected.length > 60]).toEqual([kind, true])
      const [first, last] = [expected[20], expected[59]]
      const range = { start_seq: '21', start_block: first?.block ?? '', end_block: last?.block ?? '' }
      const within = expected.filter(
        ({ block }, at) => at >= 20 && Number(block) >= Number(first?.block) && Number(block) <= Number(last?.block),
      )
      for (const size of [7, 20])
        for (const sort of ['asc', 'desc'] as const)
          expect((await wholeList('busyhub', size, sort, { ...filter, ...range })).rows).toEqual(
            sort === 'asc' ? within : within.toReversed(),
          )
    }
  })
  test('get-account-tx: failed=1 together with a token is refused, since a failed transaction moves nothing', async () => {
    for (const compat of ['none', 'iostabc'] as const)
      expect(
        await refusal(ask('get-account-tx', { account: 'busyhub', token: 'iost', failed: '1' }, { compat })),
      ).toEqual({
        kind: 'bad_request',
        en: "Parameters 'failed' and 'token' cannot be combined: a transaction that failed moved nothing; leave one of them out.",
        zh: "参数 'failed' 与 'token' 不能同时使用：失败的交易没有任何代币变动；请去掉其中一个。",
      })
    const given = { account: 'busyhub', token: 'iost', failed: '0' }
    expect(await askText('get-account-tx', given)).toBe(
      await askText('get-account-tx', { account: 'busyhub', token: 'iost' }),
    )
  })
  test('get-account-tx: an invalid func_name or failed value is refused with its rule', async () => {
    const bare = 'jnq6aRFWX1qhc1pSFFAN3ZdG7zb4kQvWGMWzxKjozKJ/x'
    for (const func_name of [bare, 'transfer', 'token.iost', 'token.iost/', '/transfer', 'a/b/c', 'token.iost/a b'])
      expect((await refusal(ask('get-account-tx', { account: 'busyhub', func_name }))).en).toBe(
        `Parameter 'func_name' is '${func_name}'; it must be a contract id and an action name joined by /, such as token.iost/transfer.`,
      )
    expect((await refusal(ask('get-account-tx', { account: 'busyhub', failed: 'true' }))).en).toBe(
      "Parameter 'failed' is 'true'; it must be 0 or 1.",
    )
  })
})
