import { describe, expect, test } from 'bun:test'
import type { ApiAction } from '#actions/define.ts'
import { findColumns } from '#actions/shape/results.ts'
import { formatUnits, toUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { type PlainLine, plainLines } from '#test/support/oracle/plain-labels.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { feedEvents } from '#test/support/processes/feed-client.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { seeded } from '#test/support/seeded.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { limitExample, lists } from './list-calls.ts'

const formatCall = (action: ApiAction): string =>
  String(new URLSearchParams({ module: action.module, action: action.action, ...limitExample(action) }))

const service = serviceOn(await loadedStore())
const ask = (query: string, headers: Readonly<Record<string, string>> = {}) => service.get(`/api/?${query}`, headers)
async function readExport(query: string) {
  const { headers, body } = await ask(query)
  const text = await new Response(body).text()
  expect(text).toEndWith('\n')
  return { headers, lines: text.slice(0, -1).split('\n') }
}

/** Requires that the pages of a list have the lines, character for character. Returns the number of rows. */
async function expectPages(action: ApiAction, lines: readonly string[], options: string): Promise<number> {
  const isPaged = Object.hasOwn(action.params.properties, 'page')
  for (let rows = 0; ; rows += 500) {
    const part = isPaged ? `&page=${1 + rows / 500}&size=500` : ''
    const text = await (await ask(`${formatCall(action)}${part}&format=bare${options}`)).text()
    const own = isPaged ? lines.slice(rows, rows + 500) : lines
    // A line break between the values of JSON text is a space in a line of NDJSON.
    const isSame = text.replaceAll(/[\r\n]/g, ' ').includes(`"${action.list}":[${own.join(',')}]`)
    expect([part, own.length, isSame]).toEqual([part, own.length, true])
    if (!isPaged || own.length < 500) return rows + own.length
  }
}

// The client reads every list with numbers as text, so this is compared in client/client.test.ts.
for (const action of lists)
  for (const options of ['', '&compat=iostabc'])
    test(`exports: ${action.module} ${action.action} as NDJSON has the rows of its pages${options}`, async () => {
      const { headers, lines } = await readExport(`${formatCall(action)}&format=ndjson${options}`)
      const rows = await expectPages(action, lines.slice(0, -1), options)
      const block_height = headers.get('x-block-height')
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ complete: true, rows, block_height })
      expect([headers.get('x-total-count'), lines.length - 1]).toEqual([String(rows), rows])
      expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    })

/** Arrays and objects as values, because the space between the values of JSON text may be a line break in a cell. */
const readCell = (cell: string | undefined, value: unknown): unknown =>
  typeof value === 'object' && value !== null ? JSON.parse(cell ?? '') : cell

test.each(lists.map(action => [action.action, action] as const))(
  'exports: %s as CSV has the same cells',
  async (_, action) => {
    const query = formatCall(action)
    const [head, ...records] = readWholeCsv(await (await ask(`${query}&format=csv`)).text())
    const columns = findColumns(action.result, action.list ?? '')?.usual
    expect(head).toEqual([...(columns ?? [action.list ?? ''])])
    // Only pages can contain rows that may still be replaced.
    if (Object.hasOwn(action.params.properties, 'head')) expect(head).not.toContain('status')
    // Amounts as text have the digits of numbers.
    const { lines } = await readExport(`${query}&format=ndjson&numbers=string`)
    expect(records.length).toBe(lines.length - 1)
    for (const [at, record] of records.entries()) {
      const row = JSON.parse(lines[at] ?? '')
      const values: readonly unknown[] = columns === undefined ? [row] : columns.map(name => row[name] ?? '')
      const cells = values.map((value, column) => readCell(record[column], value))
      const expected = values.map(value => (typeof value === 'object' ? value : String(value)))
      if (!Bun.deepEquals(cells, expected)) expect(cells).toEqual(expected)
    }
  },
)

test('exports: pages and actions without a list are refused', async () => {
  for (const [query, said] of [
    ['base&action=get-wealth-list&format=csv&page=1', "'page' does not go with format=csv"],
    ['token&action=get-token-holder&token=iost&format=ndjson&size=5', "'size' does not go with format=ndjson"],
    ['base&action=get-overview&format=csv', "'format' is 'csv', which is for actions that return a list"],
  ]) {
    const response = await ask(`module=${query}`)
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(`Parameter ${said}`)])
  }
})

test.each([
  'module=account&action=get-token-list&account=busyhub',
  'module=token&action=get-token-holder&token=wei18',
  'module=producer&action=get-producer-voter&producer=prod_13',
])('exports: files of the past name their block (%s)', async query => {
  for (const point of ['at_block=3000', 'at_time=2026-11-21T08:08:28Z&numbers=string']) {
    const answer = await readExport(`${query}&${point}&format=ndjson`)
    const last = JSON.parse(answer.lines.at(-1) ?? '')
    const { at_block, at_time } = JSON.parse(await (await ask(`${query}&${point}&format=bare`)).text())
    expect(last).toMatchObject({ complete: true, block_height: '4851', at_block, at_time })
    expect([at_block >= 3000, at_block <= 3001]).toEqual([true, true])
    const name = `${new URLSearchParams(query).get('action')}-${at_block}`
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${name}.ndjson"`)
    const { headers } = await readExport(`${query}&${point}&format=csv`)
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}.csv"`)
  }
})

test('exports: shares of a period name their blocks and their sum', async () => {
  const query = 'module=producer&action=get-reward-shares&producer=prod_13&start_block=2000&end_block=3000'
  const { headers, lines } = await readExport(`${query}&format=ndjson&numbers=string`)
  const page = await ask(`${query}&format=bare&numbers=string&page=1&size=1`)
  const { shares: _, page: __, size: ___, total, ...beside } = JSON.parse(await page.text())
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ complete: true, rows: total, block_height: '4851', ...beside })
  expect(headers.get('content-disposition')).toContain('"get-reward-shares-2000-3000.ndjson"')
})

test('exports: an unknown account or token has no rows with compat=iostabc', async () => {
  const response = await ask('module=token&action=get-token-holder&token=nosuch&format=csv&compat=iostabc')
  expect([response.status, await response.text()]).toEqual([200, 'account,balance,symbol,complete_rows\r\n'])
})

test('exports: a gzip export is one stream of the same bytes', async () => {
  const query = 'module=base&action=get-wealth-list&format=csv'
  const packed = await ask(query, { 'accept-encoding': 'gzip' })
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  const text = new TextDecoder().decode(Bun.gunzipSync(await packed.arrayBuffer()))
  expect(text).toBe(await (await ask(query)).text())
})

// Lists of rows that a search finds.
test.each([
  'module=account&action=get-account-tx&account=busyhub&counterparty=user_001&min_amount=0.5',
  'module=account&action=get-account-tx&account=admin,tokenboss,user_001&direction=in',
  'module=token&action=get-token-tx&token=iost&memo=the%20last%20one',
])('%s: the export and the feed have the rows of its pages', async list => {
  const expected: string[] = []
  for (let after: string | undefined = ''; after !== undefined; ) {
    const answer = await ask(`${list}&sort=asc&size=500&format=bare${after}`)
    const { transactions, next } = JSON.parse(await answer.text())
    expected.push(...transactions.map(({ id }: { readonly id: string }) => id))
    after = next && `&after=${next}`
  }
  expect(expected.length).toBeGreaterThan(0)
  const lines = (await readExport(`${list}&sort=asc&format=ndjson`)).lines.map(line => JSON.parse(line))
  expect(lines.slice(0, -1).map(({ id }) => id)).toEqual(expected)
  expect(lines.at(-1)).toEqual({ complete: true, rows: expected.length, block_height: '4851' })
  const records = readWholeCsv(await (await ask(`${list}&sort=asc&format=csv`)).text())
  expect(records.map(([id]) => id)).toEqual(['id', ...expected])
  // The feed has the rows from a block on, and continues after an event.
  const readIds = async (query: string, count: number, headers = {}) => {
    const ids: string[] = []
    const { body } = await ask(`${query}&format=sse`, headers)
    for await (const { id = '' } of feedEvents(body)) if (ids.push(id) === count) break
    return ids
  }
  expect(await readIds(`${list}&start_block=0`, expected.length)).toEqual(expected)
  const rest = expected.slice(Math.floor(expected.length / 2))
  const last = { 'last-event-id': rest.shift() ?? '' }
  if (rest.length > 0) expect(await readIds(list, rest.length, last)).toEqual(rest)
})

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const last = blocks.length - 1
const random = seeded(2230)
const DAY = '2026-11-21'
const PRICE = '0.004937000000000001'
const store = await loadedStore()
const { get } = serviceOn(store, {
  priceHistory: { get: () => ({ currency: 'EUR', byDay: new Map([[DAY, PRICE]]) }) },
})

type Params = Readonly<Record<string, string>>

async function fileOf(action: string, params: Params) {
  const response = await get(`/api/account/${action}?${new URLSearchParams({ format: 'csv', ...params })}`)
  const text = await response.text()
  expect([response.status, text.slice(0, 1)]).toEqual([200, params['csv'] === 'ledger' ? 'd' : 'D'])
  const [heads = [], ...lines] = readWholeCsv(text)
  const rows = lines.map(cells => Object.fromEntries(heads.map((head, at) => [head, cells[at] ?? ''])))
  return { headers: response.headers, heads, rows }
}

/** The koinly file of a balance, or of an account's IOST. */
const koinly = (account: string, more: Params = {}) =>
  fileOf('get-balance-history', { account, csv: 'koinly', ...more })

const labelled = plainLines(blocks)

/** The line of a book about IOST in the form of `plainLines`. */
function lineOf(row: Readonly<Record<string, string>>): PlainLine {
  const sent = row['Sent Amount'] ?? ''
  return `${row['TxHash']} ${sent === '' ? row['Received Amount'] : `-${sent}`} ${row['Label']}`
}

const sorted = (rows: readonly object[]): readonly string[] => rows.map(row => JSON.stringify(row)).toSorted()

/** A signed decimal text in units. */
const units = (text: string, decimals: number): bigint =>
  text.startsWith('-') ? -toUnits(text.slice(1), decimals) : toUnits(text, decimals)

const ids = [...past.changes.keys()].filter(id => !id.startsWith('ram/'))
const named = ['iost/busyhub', 'contribute/producer000', 'iost/whale_05', 'iost/whale_06', 'iost/producer000']
const drawn = Array.from({ length: SOAK ? 200 : 20 }, () => ids[Math.floor(random() * ids.length)] ?? '')
const chosen = [...new Set([...named, ...drawn])]

async function readDecimals(token: string): Promise<number> {
  return JSON.parse(await (await get(`/api/token/get-token-detail?token=${token}&format=bare`)).text()).decimal
}

test('csv=ledger: the changes equal a plain replay, and each balance is the previous one plus the change', async () => {
  for (const id of chosen) {
    const [token = '', account = ''] = id.split('/')
    const { heads, rows } = await fileOf('get-balance-history', { account, token, csv: 'ledger', sort: 'asc' })
    expect(heads).toEqual(['date', 'description', 'change', 'balance', 'token', 'tx'])
    let sum = 0n
    for (const { date, change = '', balance = '', token: named } of rows) {
      sum += units(change, 18)
      expect([id, date?.length, named, balance]).toEqual([id, 'YYYY-MM-DD'.length, token, formatUnits(sum, 18)])
    }
    const held = plainHeld(past, id, last)
    const plain = (past.changes.get(id) ?? []).filter(({ change }) => change !== 0n)
    expect([id, rows.length, rows.some(({ change }) => change === '0')]).toEqual([id, plain.length, false])
    const digits = rows.length === 0 ? 0 : await readDecimals(token)
    expect([id, sum]).toEqual([id, (held.available + held.frozen) * 10n ** BigInt(18 - digits)])
  }
})

describe('csv=koinly', () => {
  test('get-account-tx of one token has the lines of get-balance-history', async () => {
    let compared = 0
    for (const id of chosen.filter(each => each.startsWith('iost/'))) {
      const [, account = ''] = id.split('/')
      const asked = { account, token: 'iost', csv: 'koinly', sort: 'asc' }
      const [byRecords, byChanges] = [await fileOf('get-account-tx', asked), await fileOf('get-balance-history', asked)]
      // Within a transaction, actions come before those they cause. Balance changes have an order of their own.
      expect(sorted(byRecords.rows)).toEqual(sorted(byChanges.rows))
      expect(byRecords.rows.map(row => row['Date'])).toEqual(byChanges.rows.map(row => row['Date']))
      compared += byRecords.rows.length
    }
    expect(compared).toBeGreaterThan(500)
  })

  test('a line has one side, no fee, its time in UTC, and its exact value at the time', async () => {
    const { heads, rows, headers } = await koinly('busyhub')
    expect(heads.join()).toBe(
      'Date,Sent Amount,Sent Currency,Received Amount,Received Currency,Fee Amount,Fee Currency,Net Worth Amount,Net Worth Currency,Label,Description,TxHash',
    )
    const price = units(PRICE, 18)
    let [worth, held] = [0, 0n]
    for (const row of rows) {
      const [sent = '', received = '', date = ''] = [row['Sent Amount'], row['Received Amount'], row['Date']]
      held += sent === '' ? units(received, 8) : -units(sent, 8)
      const isPriced = date.startsWith(DAY)
      if (isPriced) worth++
      const money = [row['Sent Currency'], row['Received Currency'], row['Fee Amount'], row['Fee Currency']]
      expect([date, money, row['Net Worth Amount'], row['Net Worth Currency']]).toEqual([
        expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/),
        sent === '' ? ['', 'IOST', '', ''] : ['IOST', '', '', ''],
        ...(isPriced ? [formatUnits(units(sent + received, 8) * price, 26), 'EUR'] : ['', '']),
      ])
    }
    expect([rows.length > 100, worth > 0]).toEqual([true, true])
    const { available, frozen } = plainHeld(past, 'iost/busyhub', last)
    expect(held).toBe(available + frozen)
    // Releases have no line, so the number of rows would be misleading.
    expect(headers.get('x-total-count')).toBeNull()
  })

  test('without a file of prices a line has no value', async () => {
    const path = '/api/account/get-balance-history?account=whale_05&format=csv&csv=koinly'
    const [, ...lines] = readWholeCsv(await (await serviceOn(store).get(path)).text())
    expect(new Set(lines.map(cells => cells.slice(7, 9).join()))).toEqual(new Set([',']))
  })

  test('the lines of every account have the labels of what its receipts say', async () => {
    const seen = new Set<string>()
    for (const [at, [account, lines]] of [...labelled].entries()) {
      // A sample of the accounts, with every label; all of them in long runs.
      const isNamed = named.includes(`iost/${account}`)
      if (!SOAK && !isNamed && at % 8 !== 0 && lines.every(line => seen.has(line.split(' ').slice(2).join(' '))))
        continue
      const { rows } = await koinly(account)
      expect([account, rows.map(lineOf).toSorted()]).toEqual([account, lines.toSorted()])
      for (const row of rows) seen.add(row['Label'] ?? '')
    }
    expect([...seen].toSorted()).toEqual(['', 'Add to Pool', 'Remove from Pool', 'Reward'])
    // Neither a transfer to vote.iost nor the deposit of a poll is labelled.
    expect(labelled.get('whale_05')).toContainEqual(expect.stringMatching(/^EmUqLvH2Zd45\w+ -1\.5 $/))
    expect(labelled.get('whale_06')).toContainEqual(expect.stringMatching(/^1iXNcdnqm2Ci\w+ -1000 $/))
  })

  test('only iost has the ticker of a coin', async () => {
    const symbols = new Map<string, string>()
    for (const id of ids) {
      const [token = '', account = ''] = id.split('/')
      if (symbols.has(token)) continue
      const { rows } = await koinly(account, { token })
      for (const row of rows) symbols.set(token, `${row['Sent Currency']}${row['Received Currency']}`)
    }
    expect(symbols.size).toBeGreaterThan(10)
    for (const [token, symbol] of symbols) expect(symbol).toBe(token === 'iost' ? 'IOST' : `${token}@iost`)
  })
})

const HISTORY = 'get-balance-history'
const RECORDS = 'get-account-tx'

const TO = 'to-2026-11-21'

test.each<readonly [action: string, params: string, name: string]>([
  [HISTORY, 'csv=ledger', `iost-${TO}-ledger`],
  [HISTORY, 'start_date=2026-11-01&end_date=2026-12-31', `iost-from-2026-11-01-${TO}-koinly`],
  [HISTORY, 'start_block=100&end_time=2026-11-21T08:00:00Z', `iost-from-block-100-${TO}T080000Z-koinly`],
  [RECORDS, '', `all-tokens-${TO}-koinly`],
  [RECORDS, 'token=iost,big8&end_block=4000&compat=iostabc', 'iost_big8-to-block-4000-koinly'],
  [
    RECORDS,
    'direction=in&memo=a/b&min_amount=1.50',
    `all-tokens-${TO}-filtered-direction-in-memo-min_amount-1.5-koinly`,
  ],
  [RECORDS, 'token=iost&counterparty=tokenboss&failed=0', `iost-${TO}-filtered-counterparty-tokenboss-koinly`],
  [
    RECORDS,
    'func_name=token.iost/transfer&memo_prefix=x',
    `all-tokens-${TO}-filtered-func_name-token.iost_transfer-memo_prefix-koinly`,
  ],
  [RECORDS, 'failed=1', `all-tokens-${TO}-filtered-failed-koinly`],
])('%s %s: the file name contains the owner, the subject, the time and the filters', async (action, params, name) => {
  const given = Object.fromEntries(new URLSearchParams(params))
  const query = new URLSearchParams({ account: 'busyhub', csv: 'koinly', format: 'csv', ...given })
  const { headers, body } = await get(`/api/account/${action}?${query}`)
  expect(headers.get('content-disposition')).toBe(`attachment; filename="busyhub-${name}.csv"`)
  await body?.cancel()
})
