import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Transaction } from '#chain/block.ts'
import { recordId } from '#indices/position.ts'
import { records } from '#indices/record.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { found, notFound, spokenNode } from '#test/support/nodes/spoken-node.ts'
import { shownPlainRow } from '#test/support/oracle/plain-lists.ts'
import { type PlainRow, plainChain } from '#test/support/oracle/plain-records.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { type Damageable, damageableSqlite } from '#test/support/stores/damage.ts'
import { action, chainOf, genesis, type Made, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { nodeText } from '#test/support/stores/node-text.ts'

const AT_ONCE = 50
const NOWHERE = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const hashes = blocks.flatMap(({ transactions }) => transactions.map(({ hash }) => hash))

/** Every so many groups of fifty are compared, and so many rows of a list; all of them in a long run. */
const [EVERY, FIRST] = SOAK ? [1, Number.POSITIVE_INFINITY] : [5, 3_000]

/** The hashes in groups of fifty. */
const fifties = (all: readonly string[]): readonly string[] =>
  Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, at) =>
    all.slice(at * AT_ONCE, (at + 1) * AT_ONCE).join(','),
  )

describe('get-transaction-records', () => {
  test('get-transaction-records: the rows of every transaction match the blocks', async () => {
    const plain = new Map<string, PlainRow[]>()
    for (const row of plainChain(blocks).rows) plain.set(row.hash, [...(plain.get(row.hash) ?? []), row])
    const wrong: string[] = []
    for (const tx_hashes of fifties(hashes).filter((_group, at) => at % EVERY === 0)) {
      const said = await ask('get-transaction-records', { tx_hashes }, { compat: 'iostabc' })
      const rows = said.records.map(({ amount: _, ...row }: Row) => row)
      const expected = tx_hashes
        .split(',')
        .flatMap(hash => plain.get(hash) ?? [])
        .map(row => ({ status: 'IRREVERSIBLE', ...shownPlainRow(row) }))
      if (!Bun.deepEquals(rows, expected, true) || said.total !== expected.length) wrong.push(tx_hashes)
    }
    const most = Math.max(...[...plain.values()].map(rows => rows.length))
    expect({ wrong, most }).toEqual({ wrong: [], most: 100 })
  })

  test('get-transaction-records: rows have the same amounts and data as in the lists', async () => {
    const listed: Row[] = []
    for (let page = 1, total = 1; listed.length < total; page += 1) {
      const params = { contract: 'token.iost', page: `${page}`, size: '500' }
      const answer = await ask('get-contract-tx', params)
      listed.push(...answer.transactions)
      total = Math.min(answer.total, FIRST)
    }
    const rows = new Map<string, Row>()
    for (const tx_hashes of fifties([...new Set(listed.map(({ tx_hash }) => tx_hash))]))
      for (const row of (await ask('get-transaction-records', { tx_hashes })).records)
        rows.set(`${row.tx_hash} ${row.index}`, row)
    const wrong = listed.filter(({ seq: _, ...row }) => {
      const { status, ...own } = rows.get(`${row.tx_hash} ${row.index}`) ?? {}
      return status !== 'IRREVERSIBLE' || !Bun.deepEquals(own, row, true)
    })
    expect({ wrong, moved: listed.filter(({ amount }) => amount !== undefined).length > 1_000 }).toEqual({
      wrong: [],
      moved: true,
    })
  })

  test('get-transaction-records: transactions are answered in the requested order, each once, also through tx_hash', async () => {
    const [one = '', other = ''] = [blocks[807], blocks[804]].map(block => block?.transactions[1]?.hash ?? '')
    const of = async (tx_hashes: string) => (await ask('get-transaction-records', { tx_hashes })).records
    const rows = await of(`${one},${other},${one}`)
    expect(rows).toEqual([...(await of(one)), ...(await of(other))])
    expect(new Set(rows.map(({ tx_hash }: Row) => tx_hash))).toEqual(new Set([one, other]))
    expect((await ask('get-transaction-records', { tx_hash: other })).records).toEqual(await of(other))
  })

  test('get-transaction-records: one unknown hash refuses the whole request', async () => {
    const known = blocks[807]?.transactions[1]?.hash ?? ''
    const asked = ask('get-transaction-records', { tx_hashes: `${known},${NOWHERE}` })
    expect((await refusal(asked)).kind).toBe('not_found')
    const nothing = await askText('get-transaction-records', { tx_hash: NOWHERE }, { compat: 'iostabc' })
    expect(nothing).toBe('{"records":[],"page":1,"size":0,"total":0}')
    // The old service knew no lists of hashes; an unknown one hides no row of the others.
    const mixed = await ask('get-transaction-records', { tx_hashes: `${NOWHERE},${known}` }, { compat: 'iostabc' })
    expect(mixed).toEqual(await ask('get-transaction-records', { tx_hash: known }, { compat: 'iostabc' }))
    expect(mixed.total).toBeGreaterThan(0)
  })
})

describe('get-transaction-records of a transaction that is not stored', () => {
  const path = `/getTxByHash/${NOWHERE}`
  const receipt = `{"tx_hash":"${NOWHERE}","gas_usage":9119.29,"ram_usage":{},"status_code":"SUCCESS","message":"","returns":[],"receipts":[]}`
  const onNode = (status: string, receipt: string) =>
    found(
      `{"status":"${status}", "transaction":{"hash":"${NOWHERE}", "time":"1795247868355000000", "expiration":"1795247948355000000", "gas_ratio":1.01, "gas_limit":300000, "delay":"0", "chain_id":1020, "actions":[{"contract":"token.iost", "action_name":"transfer", "data":"[]"}], "signers":[], "publisher":"whale_01", "referred_tx":"", "amount_limit":[], "tx_receipt":${receipt}}, "block_number":"-1"}`,
    )
  const said = (status: string, receipt: string, libBlock?: number) => {
    const node = spokenNode({ [path]: [onNode(status, receipt)] }, libBlock === undefined ? {} : { libBlock })
    return ask('get-transaction-records', { tx_hash: NOWHERE }, { deps: { node } })
  }

  test('get-transaction-records: a transaction in the pool has no records', async () => {
    expect(await said('PENDING', 'null')).toEqual({ records: [], page: 1, size: 0, total: 0 })
  })

  test('get-transaction-records: records of a block that only the node has are unavailable, not missing', async () => {
    expect(await refusal(said('PACKED', receipt))).toEqual({
      kind: 'unavailable',
      en: 'The records of a transaction are known as soon as its block is published; block 4851 is the last published one.',
      zh: '交易的记录在其区块发布后即可查询；最新已发布的区块为 4851。',
    })
    expect((await refusal(said('PACKED', receipt, 9_000))).kind).toBe('loading')
    const nowhere = spokenNode({ [path]: [notFound('tx')] })
    const asked = ask('get-transaction-records', { tx_hash: NOWHERE }, { deps: { node: nowhere } })
    expect((await refusal(asked)).kind).toBe('not_found')
  })
})

describe('get-transaction-records of hand-made transactions', () => {
  const joined = ['dave000', 'owner', 'active']
  const paid = (amount: string) => ['iost', 'alice00', 'bob0000', amount, '']
  const told = (made: Made): Transaction => {
    const tx = transaction(made)
    return { ...tx, body: nodeText(tx) }
  }
  /** A failed transaction with a receipt, as they occur before block 38,500,000. */
  const failed = told({
    actions: [action('auth.iost/signUp', joined)],
    receipts: [receipt('auth.iost/signUp', joined)],
    receipt: { statusCode: 'RUNTIME_ERROR' },
  })
  const moving = told({
    actions: [action('Contractpays/pay', [])],
    receipts: ['1', '2'].map(amount => receipt('token.iost/transfer', paid(amount))),
  })
  const still = told({ actions: [action('Contractpays/look', [])] })
  let damaged: Damageable
  beforeAll(async () => {
    damaged = await damageableSqlite()
    await commitRuns(damaged.store, [chainOf([genesis()], [failed, moving, still])], { lib: 1 })
  })
  afterAll(() => damaged.destroy())
  const over = async (...transactions: readonly Transaction[]) => {
    const tx_hashes = transactions.map(({ hash }) => hash).join(',')
    const { records: rows } = await ask('get-transaction-records', { tx_hashes }, { deps: { store: damaged.store } })
    return rows.map(({ tx_hash, index, amount }: Row) => [tx_hash, index, amount])
  }
  const rowsOfMoving = [
    [moving.hash, 0, undefined],
    [moving.hash, 1, '1'],
    [moving.hash, 2, '2'],
  ]

  test('get-transaction-records: a failed sign-up takes no row of later transactions', async () => {
    const all = [[failed.hash, 0, undefined], ...rowsOfMoving]
    expect(await over(failed, moving)).toEqual(all)
    // The result is the same if the store claims that the failed sign-up created an account.
    await damaged.change(records, recordId(1, 1, 0), 'creator', 'alice00')
    expect(await over(failed, moving)).toEqual(all)
    expect(await over(moving, failed)).toEqual([...rowsOfMoving, [failed.hash, 0, undefined]])
  })

  test('get-transaction-records: more movements than receipts are reported as damage', async () => {
    await damaged.change(records, recordId(1, 3, 0), 'amount', '1')
    expect(await refusal(over(still, moving))).toMatchObject({
      kind: 'damaged',
      en: `The stored actions of transaction ${still.hash} claim 1 of its 0 movements.`,
    })
    expect(await over(moving)).toEqual(rowsOfMoving)
  })
})

type Row = {
  readonly seq?: number
  readonly tx_hash: string
  readonly index: number
  readonly status: string
  readonly amount?: string
}
