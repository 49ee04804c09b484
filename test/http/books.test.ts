import { describe, expect, test } from 'bun:test'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { type PlainLine, plainLines } from '#test/support/oracle/plain-labels.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { seeded } from '#test/support/seeded.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const last = blocks.length - 1
const random = seeded(2230)
const DAY = '2026-11-21'
const PRICE = '0.004937000000000001'
const store = await loadedStore()
const { ask, key } = serviceOn(store, {
  priceHistory: { get: () => ({ currency: 'EUR', byDay: new Map([[DAY, PRICE]]) }) },
})

type Params = Readonly<Record<string, string>>

async function fileOf(action: string, params: Params) {
  const query = new URLSearchParams({ apikey: key, module: 'account', action, format: 'csv', ...params })
  const response = await ask(`/api/?${query}`)
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

const decimals = new Map<string, number>()
async function decimalsOf(token: string): Promise<number> {
  const response = await ask(`/api/?apikey=${key}&module=token&action=get-token-detail&token=${token}&format=bare`)
  const { decimal } = (await response.json()) as { readonly decimal: number }
  decimals.set(token, decimal)
  return decimal
}

test('csv=ledger: the changes equal a plain replay, and each balance is the previous one plus the change', async () => {
  for (const id of chosen) {
    const [token = '', account = ''] = id.split('/')
    const { heads, rows } = await fileOf('get-balance-history', { account, token, csv: 'ledger', sort: 'asc' })
    expect(heads).toEqual(['date', 'description', 'change', 'balance', 'token', 'tx'])
    let sum = 0n
    for (const { date, change = '', balance = '', token: named } of rows) {
      sum += units(change, 18)
      expect([id, date?.length, named, balance]).toEqual([id, 'YYYY-MM-DD'.length, token, fromUnits(sum, 18)])
    }
    const held = plainHeld(past, id, last)
    const plain = (past.changes.get(id) ?? []).filter(({ change }) => change !== 0n)
    expect([id, rows.length, rows.some(({ change }) => change === '0')]).toEqual([id, plain.length, false])
    const digits = rows.length === 0 ? 0 : (decimals.get(token) ?? (await decimalsOf(token)))
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
        ...(isPriced ? [fromUnits(units(sent + received, 8) * price, 26), 'EUR'] : ['', '']),
      ])
    }
    expect([rows.length > 100, worth > 0]).toEqual([true, true])
    const { available, frozen } = plainHeld(past, 'iost/busyhub', last)
    expect(held).toBe(available + frozen)
    // Releases have no line, so the number of rows would be misleading.
    expect(headers.get('x-total-count')).toBeNull()
  })

  test('without a file of prices a line has no value', async () => {
    const other = serviceOn(store)
    const query = 'module=account&action=get-balance-history&account=whale_05&format=csv&csv=koinly'
    const [, ...lines] = readWholeCsv(await (await other.ask(`/api/?apikey=${other.key}&${query}`)).text())
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

test.each<readonly [action: string, params: string, name: string]>([
  [HISTORY, 'csv=ledger', 'busyhub-iost-to-2026-11-21-ledger'],
  [HISTORY, 'start_date=2026-11-01&end_date=2026-12-31', 'busyhub-iost-from-2026-11-01-to-2026-11-21-koinly'],
  [
    HISTORY,
    'start_block=100&end_time=2026-11-21T08:00:00Z',
    'busyhub-iost-from-block-100-to-2026-11-21T080000Z-koinly',
  ],
  [RECORDS, '', 'busyhub-all-tokens-to-2026-11-21-koinly'],
  [RECORDS, 'token=iost,big8&end_block=4000&compat=iostabc', 'busyhub-iost_big8-to-block-4000-koinly'],
  [
    RECORDS,
    'direction=in&memo=a/b&min_amount=1.50',
    'busyhub-all-tokens-to-2026-11-21-filtered-direction-in-memo-min_amount-1.5-koinly',
  ],
  [
    RECORDS,
    'token=iost&counterparty=tokenboss&failed=0',
    'busyhub-iost-to-2026-11-21-filtered-counterparty-tokenboss-koinly',
  ],
  [
    RECORDS,
    'func_name=token.iost/transfer&memo_prefix=x',
    'busyhub-all-tokens-to-2026-11-21-filtered-func_name-token.iost_transfer-memo_prefix-koinly',
  ],
  [RECORDS, 'failed=1', 'busyhub-all-tokens-to-2026-11-21-filtered-failed-koinly'],
])('%s %s: the file name contains the owner, the subject, the time and the filters', async (action, params, name) => {
  const query = new URLSearchParams({ apikey: key, account: 'busyhub', csv: 'koinly', format: 'csv' })
  for (const [param, value] of new URLSearchParams(params)) query.set(param, value)
  const { headers, body } = await ask(`/api/account/${action}?${query}`)
  expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}.csv"`)
  await body?.cancel()
})
