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
  return { response, heads, rows }
}

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
const chosen = [
  ...new Set([
    'iost/busyhub',
    'contribute/producer000',
    ...['iost/whale_05', 'iost/whale_06', 'iost/producer000'],
    ...Array.from({ length: 40 }, () => ids[Math.floor(random() * ids.length)] ?? ''),
  ]),
]

describe('csv=ledger', () => {
  for (const id of chosen)
    test(`${id}: the changes equal a plain replay, and each balance is the previous one plus the change`, async () => {
      const [token = '', account = ''] = id.split('/')
      const { heads, rows } = await fileOf('get-balance-history', {
        account,
        token,
        csv: 'ledger',
        sort: 'asc',
      })
      expect(heads).toEqual(['date', 'description', 'change', 'balance', 'token', 'tx'])
      let sum = 0n
      for (const { date, change = '', balance = '', token: named } of rows) {
        sum += units(change, 18)
        expect([date?.length, named, balance]).toEqual(['YYYY-MM-DD'.length, token, fromUnits(sum, 18)])
      }
      const held = plainHeld(past, id, last)
      const plain = (past.changes.get(id) ?? []).filter(({ change }) => change !== 0n)
      expect([rows.length, rows.map(({ change }) => change).includes('0')]).toEqual([plain.length, false])
      const decimals = rows.length === 0 ? 0 : await decimalsOf(token)
      expect(sum).toBe((held.available + held.frozen) * 10n ** BigInt(18 - decimals))
    })
})

async function decimalsOf(token: string): Promise<number> {
  const response = await ask(`/api/?apikey=${key}&module=token&action=get-token-detail&token=${token}&format=bare`)
  return ((await response.json()) as { decimal: number }).decimal
}

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
    const { heads, rows, response } = await fileOf('get-balance-history', {
      account: 'busyhub',
      csv: 'koinly',
    })
    expect(heads.join()).toBe(
      'Date,Sent Amount,Sent Currency,Received Amount,Received Currency,Fee Amount,Fee Currency,Net Worth Amount,Net Worth Currency,Label,Description,TxHash',
    )
    const [price = 0n] = [units(PRICE, 18)]
    let [worth, held] = [0, 0n]
    for (const row of rows) {
      const [sent = '', received = ''] = [row['Sent Amount'], row['Received Amount']]
      expect([sent === '', received === ''].toSorted()).toEqual([false, true])
      held += sent === '' ? units(received, 8) : -units(sent, 8)
      expect([row['Sent Currency'], row['Received Currency']].join('')).toBe('IOST')
      expect([row['Fee Amount'], row['Fee Currency']]).toEqual(['', ''])
      expect(row['Date']).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
      if (!row['Date']?.startsWith(DAY)) {
        expect([row['Net Worth Amount'], row['Net Worth Currency']]).toEqual(['', ''])
        continue
      }
      worth++
      expect([row['Net Worth Amount'], row['Net Worth Currency']]).toEqual([
        fromUnits(units(sent + received, 8) * price, 26),
        'EUR',
      ])
    }
    expect([rows.length > 100, worth > 0]).toEqual([true, true])
    const { available, frozen } = plainHeld(past, 'iost/busyhub', last)
    expect(held).toBe(available + frozen)
    // Releases have no line, so the number of rows would be misleading.
    expect(response.headers.get('x-total-count')).toBeNull()
  })

  test('without a file of prices a line has no value', async () => {
    const other = serviceOn(store)
    const query = 'module=account&action=get-balance-history&account=busyhub&format=csv&csv=koinly'
    const [, ...lines] = readWholeCsv(await (await other.ask(`/api/?apikey=${other.key}&${query}`)).text())
    expect(new Set(lines.map(cells => cells.slice(7, 9).join()))).toEqual(new Set([',']))
  })

  test('the lines of every account have the labels of what its receipts say', async () => {
    const seen = new Set<string>()
    for (const [at, [account, lines]] of [...labelled].entries()) {
      // A sample of the accounts, with every label; all of them in long runs.
      if (!SOAK && at % 4 !== 0 && lines.every(line => seen.has(line.split(' ').slice(2).join(' ')))) continue
      const { rows } = await fileOf('get-balance-history', { account, csv: 'koinly' })
      expect([account, rows.map(lineOf).toSorted()]).toEqual([account, lines.toSorted()])
      for (const row of rows) seen.add(row['Label'] ?? '')
    }
    expect([...seen].toSorted()).toEqual(['', 'Add to Pool', 'Remove from Pool', 'Reward'])
  })

  test('neither a transfer to vote.iost nor the deposit and the votes of a poll are labelled', async () => {
    const toVotes = async (account: string) => {
      const asked = { account, counterparty: 'vote.iost', csv: 'koinly' }
      return (await fileOf('get-account-tx', asked)).rows.map(lineOf)
    }
    const [plain, deposit] = [await toVotes('whale_05'), await toVotes('whale_06')]
    expect(plain.filter(line => line.endsWith(' -1.5 '))).toEqual([expect.stringMatching(/^EmUqLvH2Zd45/)])
    expect(deposit.filter(line => line.endsWith(' -1000 '))).toEqual([expect.stringMatching(/^1iXNcdnqm2Ci/)])
    for (const [account, lines] of [
      ['whale_05', plain],
      ['whale_06', deposit],
    ] as const) {
      const votes = lines.filter(line => line.endsWith(' Add to Pool'))
      expect(votes.length).toBeGreaterThan(0)
      expect(labelled.get(account)).toEqual(expect.arrayContaining(lines))
    }
  })

  test('only iost has the ticker of a coin', async () => {
    const symbols = new Map<string, string>()
    for (const id of ids) {
      const [token = '', account = ''] = id.split('/')
      if (symbols.has(token)) continue
      const { rows } = await fileOf('get-balance-history', { account, token, csv: 'koinly' })
      for (const row of rows) symbols.set(token, `${row['Sent Currency']}${row['Received Currency']}`)
    }
    expect(symbols.size).toBeGreaterThan(10)
    for (const [token, symbol] of symbols) expect(symbol).toBe(token === 'iost' ? 'IOST' : `${token}@iost`)
  })
})

test.each([
  ['get-balance-history', { account: 'busyhub', csv: 'ledger' }, 'busyhub-iost-to-2026-11-21-ledger'],
  [
    'get-balance-history',
    { account: 'busyhub', csv: 'koinly', start_date: '2026-11-01', end_date: '2026-12-31' },
    'busyhub-iost-from-2026-11-01-to-2026-11-21-koinly',
  ],
  [
    'get-balance-history',
    { account: 'busyhub', csv: 'koinly', start_block: '100', end_time: '2026-11-21T08:00:00Z' },
    'busyhub-iost-from-block-100-to-2026-11-21T080000Z-koinly',
  ],
  ['get-account-tx', { account: 'busyhub', csv: 'koinly' }, 'busyhub-all-tokens-to-2026-11-21-koinly'],
  [
    'get-account-tx',
    { account: 'busyhub', token: 'iost,big8', csv: 'koinly', end_block: '4000', compat: 'iostabc' },
    'busyhub-iost_big8-to-block-4000-koinly',
  ],
  [
    'get-account-tx',
    { account: 'busyhub', csv: 'koinly', direction: 'in', memo: 'a/b', min_amount: '1.50' },
    'busyhub-all-tokens-to-2026-11-21-filtered-direction-in-memo-min_amount-1.5-koinly',
  ],
  [
    'get-account-tx',
    { account: 'busyhub', token: 'iost', csv: 'koinly', counterparty: 'tokenboss', failed: '0' },
    'busyhub-iost-to-2026-11-21-filtered-counterparty-tokenboss-koinly',
  ],
  [
    'get-account-tx',
    { account: 'busyhub', csv: 'koinly', func_name: 'token.iost/transfer', memo_prefix: 'x' },
    'busyhub-all-tokens-to-2026-11-21-filtered-func_name-token.iost_transfer-memo_prefix-koinly',
  ],
  [
    'get-account-tx',
    { account: 'busyhub', csv: 'koinly', failed: '1' },
    'busyhub-all-tokens-to-2026-11-21-filtered-failed-koinly',
  ],
])('%s %j: the file name contains the owner, the subject, the time and the filters', async (action, params, name) => {
  const { response } = await fileOf(action, params)
  expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${name}.csv"`)
})
