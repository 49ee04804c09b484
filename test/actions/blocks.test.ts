import { describe, expect, test } from 'bun:test'
import { formatUnits, toUnits } from '#chain/amount.ts'
import { toIso } from '#chain/time.ts'
import { recordedBlocks, recording } from '#test/support/nodes/recording.ts'
import { found, notFound, spokenNode } from '#test/support/nodes/spoken-node.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'
import { pendingBlock } from '#test/support/stores/pending-block.ts'

type Params = Readonly<Record<string, string>>
type Row = { readonly gas_usage: string; readonly witness_account: string; readonly number: number }

const blocks = (await recordedBlocks()).map(({ block }) => block)

/** The rows of the list of blocks, oldest first, computed from the blocks. */
const plainRows = blocks.map(block => ({
  seq: block.height + 1,
  number: block.height,
  hash: block.hash,
  time: String(block.time),
  witness: block.witness,
  tx_count: block.transactions.length,
  gas_usage: block.transactions.reduce((sum, { receipt }) => sum + receipt.gasUsage, 0n),
}))

/** A row as computed from the blocks: gas × 100, without the account, which blocks do not contain. */
const plain = ({ witness_account: _, gas_usage, ...row }: Row) => ({ ...row, gas_usage: toUnits(gas_usage, 2) })

async function wholeList(params: Params) {
  const rows: Row[] = []
  for (let page = 1; ; page += 1) {
    const { blocks, total } = await ask('get-block-list', { ...params, page: String(page) })
    rows.push(...blocks)
    if (rows.length >= total || blocks.length === 0) return { rows: rows.map(plain), total }
  }
}

describe('get-block-list', () => {
  test.each([
    ['500', 'asc'],
    ['500', 'desc'],
    ['7', 'desc'],
  ] as const)('pages of %s, %s: every block matches the chain', async (size, sort) => {
    const { rows, total } = await wholeList({ size, sort })
    expect(total).toBe(plainRows.length)
    expect(sort === 'asc' ? rows : rows.toReversed()).toEqual(plainRows)
  })

  test('account and gas match get-block-detail', async () => {
    const { blocks } = await ask('get-block-list', { size: '300', page: '9' })
    for (const row of blocks) {
      const { block, witness_account } = await ask('get-block-detail', { number: String(row.number) })
      expect([row.witness_account, row.gas_usage]).toEqual([witness_account, block.gas_usage])
    }
  })

  test('ranges of blocks, times and seq work, also combined', async () => {
    const { time } = plainRows[1500] ?? { time: '' }
    for (const [range, first, last] of [
      [{ start_block: '1000', end_block: '1009' }, 1000, 1009],
      [{ start_seq: '1', end_seq: '3' }, 0, 2],
      [{ start_block: '4850' }, 4850, 4851],
      [{ end_block: '0' }, 0, 0],
      [{ end_seq: '0' }, 0, -1],
      [{ start_block: '4852' }, 0, -1],
      [{ start_block: '9999999999999999999', end_seq: '5' }, 0, -1],
      [{ start_block: '10', start_seq: '9', end_seq: '14', end_block: '40' }, 10, 13],
      [{ start_time: time, end_seq: '1510' }, 1500, 1509],
      [{ end_time: time, start_block: '1490' }, 1490, 1500],
    ] as const) {
      const expected = plainRows.slice(first, last + 1)
      const found = await wholeList({ ...range, size: '3', sort: 'asc' })
      expect([range, found]).toEqual([range, { rows: expected, total: expected.length }])
    }
  })

  test('a time includes its whole last given unit, a date the whole UTC day, at both ends', async () => {
    const ns = BigInt(plainRows[1500]?.time ?? '')
    const iso = toIso(ns).slice(0, -'.000Z'.length)
    const digits = String(ns).slice(-9)
    const forms: readonly (readonly [kind: string, text: string, unit: bigint])[] = [
      ['date', iso.slice(0, 10), 86_400n * 10n ** 9n],
      ['time', `${iso}Z`, 10n ** 9n],
      ...[1, 3, 6, 9].map(at => ['time', `${iso}.${digits.slice(0, at)}Z`, 10n ** BigInt(9 - at)] as const),
      ['time', String(ns), 1n],
    ]
    const totals = new Set<number>()
    for (const [kind, text, unit] of forms) {
      const [first, next] = [ns - (ns % unit), ns - (ns % unit) + unit]
      const [start, end] = [{ [`start_${kind}`]: text }, { [`end_${kind}`]: text }]
      const totalOf = async (range: Params) => (await ask('get-block-list', range)).total
      const count = (within: (time: bigint) => boolean) => blocks.filter(({ time }) => within(time)).length
      const total = await totalOf({ ...start, ...end })
      totals.add(total)
      expect([text, total, await totalOf(start), await totalOf(end)]).toEqual([
        text,
        count(time => time >= first && time < next),
        count(time => time >= first),
        count(time => time < next),
      ])
    }
    // One second of this chain has several blocks, and one day has several seconds.
    expect(totals.size).toBeGreaterThan(2)
  })
})

describe('get-block-detail, above the last published block', async () => {
  const NUMBER = '/getBlockByNumber/4860/true'
  const text = await pendingBlock(4860)
  const over = (said: Params, params: Params, action = 'get-block-detail') => {
    const answers = Object.entries(said).map(([path, text]) => [path, [text === '' ? notFound('block') : found(text)]])
    return ask(action, params, { deps: { node: spokenNode(Object.fromEntries(answers)) } })
  }

  test("the followed node's block is answered, with gas summed from its transactions", async () => {
    const { block, status } = JSON.parse(text)
    const { transactions: _, ...own } = block
    const gas_usage = formatUnits(plainRows[2021]?.gas_usage ?? 0n, 2)
    expect(await over({ [NUMBER]: text }, { number: '4860' })).toEqual({
      ...{ block: { ...own, number: 4860, gas_usage, info: {} }, status, witness_account: 'producer000' },
    })
  })

  test('a hash that was replaced on the chain is not found', async () => {
    const other = await pendingBlock(4860, 1n)
    const { hash } = JSON.parse(other).block
    const path = `/getBlockByHash/${hash}/true`
    expect((await refusal(over({ [path]: other, [NUMBER]: text }, { hash }))).kind).toBe('not_found')
    expect((await over({ [path]: other, [NUMBER]: other }, { hash })).status).toBe('PENDING')
  })

  test('a block that the node does not know is not found, and another one than the requested one is refused', async () => {
    const of = async (text: string) =>
      (await refusal(over({ '/getBlockByNumber/4861/true': text }, { number: '4861' }))).kind
    expect([await of(''), await of(text)]).toEqual(['not_found', 'bad_block'])
  })

  test.each([
    ['"number":"4860"', '"number":"4861"'],
    [/"witness":"[^"]*"/, '"witness":"9V1v7Emef8MyPc1uBc9i5BmrTFxpUkxvQa1vUUSuzr4F"'],
    [/"time":"(\d+)\d"/, '"time":"$19"'],
    [/"parent_hash":"[^"]*"/, '"parent_hash":"FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC"'],
    [/"tx_merkle_hash":"[^"]*"/, '"tx_merkle_hash":"FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC"'],
    [/"tx_count":"\d+"/, '"tx_count":"77"'],
    [/"gas_usage":\d+(?:\.\d+)?, "ram_usage"/, '"gas_usage":77,"ram_usage"'],
    [/"message":"[^"]*", "returns"/, '"message":"\ufffd","returns"'],
  ])('a block that the node altered is refused: %s', async (from, to) => {
    const lie = text.replace(from, to)
    expect(lie === text).toBe(false)
    const { number, hash } = JSON.parse(lie).block
    const said = { [`/getBlockByNumber/${number}/true`]: lie, [`/getBlockByHash/${hash}/true`]: lie }
    for (const params of [{ number }, { hash }])
      for (const action of ['get-block-detail', 'get-block-tx'])
        expect((await refusal(over(said, params, action))).kind).toBe('bad_block')
  })
})

describe('get-latest-block', () => {
  const last = () => ask('get-block-detail', { number: '4851' })

  test('returns the head of the followed node, with one request to it for many calls', async () => {
    const node = spokenNode({ '/getBlockByNumber/4855/true': [found(await pendingBlock(4855))] }, { headBlock: 4855 })
    const said = await Promise.all([1, 2, 3].map(() => ask('get-latest-block', {}, { deps: { node } })))
    for (const one of said)
      expect(one).toMatchObject({ block: { number: 4855 }, status: 'PENDING', witness_account: 'producer000' })
    expect(node.asked).toEqual(['/getBlockByNumber/4855/true'])
  })

  test('returns the last published block without a node, without a newer block, and if the head was altered or replaced', async () => {
    expect(await ask('get-latest-block')).toEqual(await last())
    const text = await pendingBlock(4855)
    for (const [headBlock, said] of [
      [4851, found((await recording()).blockText(4851) ?? '')],
      [4855, found(text.replace(/"time":"(\d+)\d"/, '"time":"$19"'))],
      [4855, found(text.replace(/"gas_usage":\d+(?:\.\d+)?, "ram_usage"/, '"gas_usage":77,"ram_usage"'))],
      [4855, found(await pendingBlock(4856))],
      [4855, notFound('block')],
    ] as const) {
      expect(said.text === text).toBe(false)
      const node = spokenNode({ [`/getBlockByNumber/${headBlock}/true`]: [said] }, { headBlock })
      expect(await ask('get-latest-block', {}, { deps: { node } })).toEqual(await last())
    }
  })
})
