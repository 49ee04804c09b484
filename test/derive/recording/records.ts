import { describe, expect, test } from 'bun:test'
import { toBaseTransaction } from '#chain/base-transaction.ts'
import { listOf, lists } from '#indices/list.ts'
import { producers } from '#indices/producer.ts'
import type { RecordDoc } from '#indices/record.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { oracle, recordedBlocks, sentTransactions } from '#test/support/nodes/recording.ts'
import { derivedRecording } from '#test/support/stores/derived-chain.ts'

// Awaited here and not in a test: deriving the chain takes longer than the time limit of a test.
const blocks = await recordedBlocks()
const chain = await derivedRecording()
const records = chain.documents.flatMap(documents => documents.records)

const recordedProducers = (await oracle()).producers.keys()

function tally(names: Iterable<string>): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries([...counts].sort())
}

describe('deriveBlock: rows of the recording', () => {
  test('deriveBlock: the recording has 65,984 rows of actions and 23,153 of movements', () => {
    const movements = records.filter(({ receipt }) => receipt !== undefined)
    expect(records.length - movements.length).toBe(65_984)
    expect(tally(movements.map(({ action_name }) => action_name))).toEqual({
      destroy: 66,
      issue: 20,
      signUp: 39,
      transfer: 21_030,
      transferFreeze: 1_998,
    })
  })

  test('deriveBlock: rows are in chain order and lists have no gap', () => {
    expect(records.map(({ id }) => id)).toEqual(records.map(({ id }) => id).sort())
    const ordinals = new Map<bigint, bigint>()
    for (const { places } of records) {
      expect(new Set(places.map(place => place >> 32n)).size).toBe(places.length)
      for (const place of places) {
        const number = place >> 32n
        const ordinal = place & 0xffffffffn
        if (ordinal !== (ordinals.get(number) ?? 0n) + 1n) throw new Error(`List ${number} goes on with ${ordinal}.`)
        ordinals.set(number, ordinal)
      }
    }
    const counts = chain.state.all(lists).map(({ number, count }) => [BigInt(number), BigInt(count)] as const)
    expect(new Map(counts)).toEqual(ordinals)
    expect(chain.state.get(statistics, STATISTICS)?.list_count).toBe(ordinals.size)
  })

  test('deriveBlock: lists are numbered in chain order', () => {
    const first: bigint[] = []
    const seen = new Set<bigint>()
    for (const { places } of records)
      for (const place of places) {
        if (seen.has(place >> 32n)) continue
        seen.add(place >> 32n)
        first.push(place >> 32n)
      }
    expect(first).toEqual(first.map((_, at) => BigInt(at + 1)))
  })

  test('deriveBlock: created lists have the accounts that signUp receipts name', () => {
    const expected: string[] = []
    for (const { block } of blocks)
      for (const { publisher, receipt } of block.transactions)
        for (const { funcName } of receipt.receipts) if (funcName === 'auth.iost/signUp') expected.push(publisher)
    expect(tally(records.flatMap(({ creator }) => (creator === undefined ? [] : [creator])))).toEqual(tally(expected))
    for (const [creator, count] of Object.entries(tally(expected)))
      expect(chain.state.get(lists, listOf.created(creator))?.count).toBe(count)
  })

  test('deriveBlock: contracts that only failed actions name have no list', async () => {
    const contracts = new Set(
      chain.state
        .all(lists)
        .filter(({ id }) => id.startsWith('contract/'))
        .map(({ id }) => id.slice('contract/'.length)),
    )
    const claimed = blocks.flatMap(({ block }) =>
      block.transactions.flatMap(({ actions }) => actions.map(({ contract }) => contract)),
    )
    const { contracts: known } = await oracle()
    expect([...contracts].filter(id => id !== 'system.iost' && !known.has(id))).toEqual([])
    expect(new Set(claimed).size).toBeGreaterThan(contracts.size)
    // The `play` action of this contract always fails, but the contract exists.
    expect(contracts.has('Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW')).toBe(true)
  })

  test('deriveBlock: long texts are stored in the transaction, not in rows', async () => {
    const texts = (row: RecordDoc) => [row.contract, row.action_name, row.data, row.return]
    for (const row of records) {
      const bytes = texts(row).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
      if (row.overflow) expect(texts(row)).toEqual(['', '', '', ''])
      else if (bytes > 4096) throw new Error(`Row ${row.id} holds ${bytes} bytes.`)
    }
    expect(records.filter(({ overflow }) => overflow).length).toBe(3)
  })

  test('deriveBlock: two identical actions are two rows', async () => {
    const twins = (await sentTransactions()).filter(
      ({ kind, status }) => kind === 'twins-identical' && status === 'SUCCESS',
    )
    expect(twins.length).toBeGreaterThan(0)
    for (const { hash } of twins) {
      const rows = records.filter(row => row.tx_hash === hash)
      const tx = blocks.flatMap(({ block }) => block.transactions).find(each => each.hash === hash)
      expect(rows.map(({ data }) => data)).toEqual(tx?.actions.map(({ data }) => data) ?? [])
      expect(rows.every(({ amount }) => amount !== undefined)).toBe(true)
    }
  })
})

describe('deriveBlock: blocks of the recording', () => {
  test('toBaseTransaction: restores all 4,851 base transactions', () => {
    let short = 0
    chain.documents.forEach(({ block }, height) => {
      const expected = height === 0 ? undefined : blocks[height]?.block.transactions[0]?.body
      if (toBaseTransaction(block) !== expected) throw new Error(`Base transaction of block ${height} differs.`)
      if ((block.base?.length ?? 0) > 0 && !block.base?.startsWith('{"body"')) short += 1
    })
    expect(short).toBe(4_851)
  })

  test('deriveBlock: gas of a block matches the next base transaction', () => {
    const said = blocks.slice(1).map(({ block }) => {
      const [data] = JSON.parse(block.transactions[0]?.actions[0]?.data ?? '[]') as [{ parent: [string, string] }]
      return data.parent
    })
    // Genesis has no gas to pay and no signer.
    const derived = chain.documents.slice(0, -1).map(({ block }) => [block.witness, String(block.gas_usage)])
    expect(derived).toEqual(said.map(([witness, gas]) => [witness, gas]))
  })

  test('deriveBlock: the account that signed a block is the one that the next block pays', () => {
    const paid = blocks.slice(1).map(({ block }) => {
      const content = block.transactions[0]?.receipt.receipts.at(-1)?.content ?? '[]'
      return (JSON.parse(content) as string[])[1] ?? ''
    })
    expect(chain.documents.slice(0, -1).map(({ block }) => block.witness_account)).toEqual(paid)
    const last = chain.documents.at(-1)?.block.witness_account ?? ''
    const { 0: _genesis, ...expected } = tally([...paid, last])
    const counted = chain.state.all(producers).filter(({ block_count }) => block_count > 0)
    expect(Object.fromEntries(counted.map(({ account, block_count }) => [account, block_count]))).toEqual(expected)
  })

  test('deriveBlock: every transaction except base ones is a document with its body unchanged', () => {
    const derived = chain.documents.flatMap(({ transactions }) => transactions.map(({ hash, body }) => [hash, body]))
    const expected = blocks.flatMap(({ block }) =>
      block.transactions.slice(block.height > 0 ? 1 : 0).map(({ hash, body }) => [hash, body]),
    )
    expect(derived.length).toBe(57_738)
    expect(derived).toEqual(expected)
  })

  test('deriveBlock: the figures over the chain are correct', () => {
    const figures = chain.state.get(statistics, STATISTICS)
    const genesis = blocks[0]?.block
    expect(figures).toEqual({
      id: STATISTICS,
      account_count: 279,
      contract_count: 23,
      token_count: 28,
      collection_count: 2,
      producer_count: 13,
      producer_votes: [...recordedProducers].reduce(
        (sum, account) => sum + (chain.state.get(producers, account)?.votes ?? 0n),
        0n,
      ),
      candidate_votes: chain.state
        .all(producers)
        .reduce((sum, { votes }) => (votes >= 210_000_000_000_000n ? sum + votes : sum), 0n),
      votes_told: true,
      // The owners with a positive total among 279 accounts and 11 user contracts.
      wealth_count: 187,
      list_count: chain.state.all(lists).length,
      pledge_seq: figures?.pledge_seq ?? 0,
      transaction_count: 57_738,
      record_count: 89_137,
      highest_tps: 140,
      tps_second: Number((blocks.at(-1)?.block.time ?? 0n) / 1_000_000_000n),
      tps_count: 0,
      ram: figures?.ram ?? { left: '', used: '', balance: '' },
      versions: figures?.versions ?? [],
      genesis_publisher: 'deadaddr',
      genesis_tx: genesis?.transactions[0]?.hash ?? '',
      genesis_time: String(genesis?.time),
    })
    expect(new Map(figures?.versions).get('vote_producer.iost')).toBe('1.0.9')
  })
})
