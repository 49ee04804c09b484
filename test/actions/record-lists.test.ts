import { expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { type PlainFilter, plainPasses } from '#test/support/oracle/plain-filters.ts'
import { type PlainRow, plainLists } from '#test/support/oracle/plain-records.ts'
import { refusal } from '#test/support/refusal.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'

type Params = Readonly<Record<string, string>>

const lists = await plainLists()
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

const random = seeded(seedOf(71))
const of = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
const isChosen = (share: number): boolean => random() < share

/** A filter that some rows of a list are likely to pass: its values are those of one of the rows. */
function filterFor(rows: readonly PlainRow[], kind: string): PlainFilter {
  const row = of(rows)
  const { facts, from, to, contract, action } = row
  const isMovement = facts.token !== undefined
  const filter: Record<string, unknown> = {}
  if (isChosen(0.4)) filter['counterparty'] = of([from, to].filter(name => name !== '')) ?? 'admin'
  const canSee = kind === 'account' || filter['counterparty'] !== undefined
  if (isMovement && canSee && isChosen(0.4)) filter['direction'] = of(['in', 'out'])
  if (isMovement && kind !== 'token' && isChosen(0.5))
    filter['token'] = isChosen(0.5) ? [facts.token] : [...new Set([facts.token, 'iost', 'contribute'])]
  if (facts.memo !== undefined && isChosen(0.4)) filter['memo'] = facts.memo
  if (facts.memo !== undefined && facts.memo !== '' && isChosen(0.4))
    filter['memo_prefix'] = [...facts.memo].slice(0, 2).join('')
  if (facts.amount !== undefined && isChosen(0.4)) filter['min_amount'] = facts.amount
  const isMoving = ['direction', 'token', 'memo', 'memo_prefix'].some(name => name in filter)
  if (kind !== 'contract' && /^\w{1,32}$/.test(action) && isChosen(0.3) && (contract === 'token.iost' || !isMoving))
    filter['func_name'] = `${contract}/${action}`
  if (kind !== 'token' && !isMoving && filter['min_amount'] === undefined && isChosen(0.4)) filter['failed'] = true
  return filter as PlainFilter
}

const paramsOf = ({ token, failed, ...filter }: PlainFilter): Params => ({
  ...filter,
  ...(token === undefined ? {} : { token: token.join(',') }),
  ...(failed === true ? { failed: '1' } : {}),
})

type Found = { readonly tx_hash: string; readonly index: number; readonly id?: string; readonly accounts?: string[] }

async function walked(action: string, params: Params) {
  const rows: Found[] = []
  const totals: number[] = []
  let more: Params = {}
  for (let page = 1; ; page += 1) {
    const { transactions, total, next, total_reason } = await ask(action, { ...params, ...more })
    rows.push(...transactions)
    if (total === null) expect(total_reason).toBe('searched')
    else if (!('after' in more)) totals.push(total)
    if (next !== undefined) more = { after: next }
    else if (rows[0]?.id === undefined && total !== null && rows.length < total) more = { page: String(page + 1) }
    else return { rows, totals }
  }
}

const named = (rows: readonly { readonly hash: string; readonly index: number }[]): readonly string[] =>
  rows.map(({ hash, index }) => `${hash} ${index}`)

/** Lists long enough to be searched and short enough to be read completely. */
const listsOf = (kind: string): readonly (readonly [string, readonly PlainRow[]])[] =>
  [...lists].filter(
    ([key, rows]) =>
      key.startsWith(`${kind}/`) && rows.length > 20 && rows.length < (kind === 'account' ? 2_500 : 60_000),
  )

test.each([
  ['account', 'get-account-tx', 60],
  ['contract', 'get-contract-tx', 12],
  ['token', 'get-token-tx', 12],
])('%s: the rows that pass filters match the blocks, in both orders and ranges', async (kind, action, times) => {
  let searched = 0
  let passed = 0
  const chosen = listsOf(kind)
  for (let n = 0; n < times; n += 1) {
    const [key, all] = of(chosen)
    const name = key.slice(kind.length + 1)
    let filter = filterFor(all, kind)
    if (kind === 'contract' && name !== 'token.iost') {
      const { direction: _d, token: _t, memo: _m, memo_prefix: _p, ...rest } = filter
      filter = rest
    }
    const sort = of(['asc', 'desc'])
    const [low, high] = [of(all).height, of(all).height].toSorted((a, b) => a - b) as [number, number]
    const range = isChosen(0.3) ? { start_block: String(low), end_block: String(high) } : {}
    const asc = all.filter(
      row =>
        plainPasses(row, kind === 'account' ? name : undefined, filter) &&
        (!('start_block' in range) || (row.height >= low && row.height <= high)),
    )
    const size = String(of([1, 7, 100, 500].filter(each => each * 60 > asc.length)))
    const params = { [kind]: name, ...paramsOf(filter), sort, size, ...range }
    const { rows, totals } = await walked(action, params)
    const got = rows.map(row => `${row.tx_hash} ${row.index}`)
    expect([params, got] as unknown[]).toEqual([params, named(sort === 'asc' ? asc : asc.toReversed())])
    for (const total of totals) expect([params, total]).toEqual([params, asc.length])
    searched += rows[0]?.id === undefined ? 0 : 1
    passed += asc.length
  }
  expect([searched > times / 4, passed > times]).toEqual([true, true])
})

const FILTERS: readonly PlainFilter[] = [
  {},
  { direction: 'in' },
  { failed: true },
  { min_amount: '5' },
  { token: ['iost', 'ram'] },
  { func_name: 'token.iost/transfer', token: ['iost'] },
  { direction: 'out', counterparty: 'gas.iost' },
]

test('accounts: the rows of several accounts come in one order, each once, with the accounts it belongs to', async () => {
  const names = ['admin', 'tokenboss', 'user_001', 'gas.iost', '__proto__']
  for (const filter of FILTERS) {
    const whose = new Map<PlainRow, string[]>()
    for (const name of names)
      for (const row of lists.get(`account/${name}`) ?? [])
        if (plainPasses(row, name, filter)) whose.set(row, [...(whose.get(row) ?? []), name])
    const params = { account: names.join(','), ...paramsOf(filter), sort: 'asc', size: '500' }
    const { rows } = await walked('get-account-tx', params)
    const shown = (hash: string, index: number, accounts: readonly string[]) =>
      `${hash} ${index} ${accounts.toSorted().join(' ')}`
    const got = rows.map(row => shown(row.tx_hash, row.index, row.accounts ?? []))
    expect(got.toSorted()).toEqual([...whose].map(([row, own]) => shown(row.hash, row.index, own)).toSorted())
    expect(rows.map(({ id = '' }) => id)).toEqual(rows.map(({ id = '' }) => id).toSorted())
  }
})

test('filters: what no row can pass and what needs numbers is refused', async () => {
  const refused = async (params: Params, action = 'get-account-tx') => (await refusal(ask(action, params))).en
  const account = 'busyhub'
  expect([
    await refused({ account, failed: '1', token: 'iost' }),
    await refused({ account, func_name: 'gas.iost/pledge', memo: 'x' }),
    await refused({ account, memo: 'x', page: '2' }),
    await refused({ account, memo: 'x', head: '1' }),
    await refused({ account, memo: 'x', start_seq: '1' }),
    await refused({ account, min_amount: '1e3' }),
    await refused({ account: 'admin,BAD' }),
    await refused({}),
    await refused({ account, counterparty: 'nosuch' }),
    await refused({ token: 'iost', direction: 'in' }, 'get-token-tx'),
    await refused({ contract: 'gas.iost', memo: 'x' }, 'get-contract-tx'),
  ]).toMatchSnapshot()
})
