import { describe, expect, test } from 'bun:test'
import { toIso } from '#chain/time.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

/** The rows of the recorded chain, oldest first, computed from its blocks. */
const plainRows = async () =>
  (await recordedBlocks()).map(({ block }) => ({
    seq: block.height + 1,
    number: block.height,
    hash: block.hash,
    time: String(block.time),
    witness: block.witness,
    tx_count: block.transactions.length,
    gas_usage: block.transactions.reduce((sum, { receipt }) => sum + receipt.gasUsage, 0n),
  }))

type Row = { readonly gas_usage: string; readonly witness_account: string; readonly number: number }

/** A row as computed from the blocks: gas × 100, without the account, which blocks do not contain. */
function plain({ witness_account: _, gas_usage, ...row }: Row) {
  const [whole = '', fraction = ''] = gas_usage.split('.')
  return { ...row, gas_usage: BigInt(whole + fraction.padEnd(2, '0')) }
}

async function wholeList(params: Readonly<Record<string, string>>) {
  const rows: Row[] = []
  for (let page = 1; ; page += 1) {
    const { blocks, total } = await ask('get-block-list', { ...params, page: String(page) })
    rows.push(...blocks)
    if (rows.length >= total || blocks.length === 0) return { rows, total }
  }
}

describe('get-block-list', () => {
  test('get-block-list: every block matches the chain, pages of any size join, asc is the reverse', async () => {
    const expected = await plainRows()
    for (const [size, sort] of [
      ['500', 'asc'],
      ['500', 'desc'],
      ['7', 'asc'],
      ['20', 'desc'],
    ] as const) {
      const { rows, total } = await wholeList({ size, sort })
      const shown = rows.map(plain)
      expect(total).toBe(expected.length)
      expect(sort === 'asc' ? shown : shown.toReversed()).toEqual(expected)
    }
    for (const page of ['1', '2', '4852', '4853'])
      expect((await ask('get-block-list', { page, size: '1' })).blocks.map(plain)).toEqual(
        expected.toReversed().slice(Number(page) - 1, Number(page)),
      )
  })
  test('get-block-list: account and figures match get-block-detail', async () => {
    const { blocks } = await ask('get-block-list', { size: '300', page: '9' })
    for (const row of blocks) {
      const { block, witness_account } = await ask('get-block-detail', { number: String(row.number) })
      expect([row.witness_account, row.hash, row.time, row.gas_usage, String(row.tx_count)]).toEqual([
        witness_account,
        block.hash,
        block.time,
        block.gas_usage,
        block.tx_count,
      ])
    }
  })
  test('get-block-list: ranges of blocks, times and seq work, also combined', async () => {
    const all = await plainRows()
    const { time } = all[1500] ?? { time: '' }
    for (const [range, within] of [
      [{ start_block: '1000', end_block: '1009' }, (n: number) => n >= 1000 && n <= 1009],
      [{ start_seq: '1', end_seq: '3' }, (n: number) => n <= 2],
      [{ start_block: '4850' }, (n: number) => n >= 4850],
      [{ end_block: '0' }, (n: number) => n === 0],
      [{ end_seq: '0' }, () => false],
      [{ start_block: '4852' }, () => false],
      [{ start_block: '9999999999999999999', end_seq: '5' }, () => false],
      [{ start_block: '10', start_seq: '9', end_seq: '14', end_block: '40' }, (n: number) => n >= 10 && n <= 13],
      [{ start_time: time, end_seq: '1510' }, (n: number) => n >= 1500 && n <= 1509],
      [{ end_time: time, start_block: '1490' }, (n: number) => n >= 1490 && n <= 1500],
    ] as const) {
      const { rows, total } = await wholeList({ ...range, size: '3', sort: 'asc' })
      const expected = all.filter(({ number }) => within(number))
      expect([range, total, rows.map(plain)]).toEqual([range, expected.length, expected])
    }
  })
  test('get-block-list: a time includes its whole last given unit, a date the whole UTC day, at both ends', async () => {
    const all = await plainRows()
    const ns = BigInt(all[1500]?.time ?? '')
    const iso = toIso(ns).slice(0, -'.000Z'.length)
    const digits = String(ns).slice(-9)
    const forms: readonly (readonly [text: string, unit: bigint])[] = [
      [`${iso}Z`, 10n ** 9n],
      ...Array.from({ length: 9 }, (_, at) => [`${iso}.${digits.slice(0, at + 1)}Z`, 10n ** BigInt(8 - at)] as const),
      [String(ns), 1n],
    ]
    const day = 86_400n * 10n ** 9n
    const ranges = [
      ...forms.map(([text, unit]) => [{ start_time: text, end_time: text }, unit] as const),
      [{ start_date: iso.slice(0, 10), end_date: iso.slice(0, 10) }, day] as const,
    ]
    const found = new Set<number>()
    for (const [range, unit] of ranges) {
      const first = ns - (ns % unit)
      const within = all.filter(({ time }) => BigInt(time) >= first && BigInt(time) < first + unit)
      const { total } = await ask('get-block-list', range)
      found.add(total)
      expect([range, total]).toEqual([range, within.length])
      for (const [name, text] of Object.entries(range)) {
        const { total: one } = await ask('get-block-list', { [name]: text })
        const isStart = name.startsWith('start_')
        const expected = all.filter(({ time }) => (isStart ? BigInt(time) >= first : BigInt(time) < first + unit))
        expect([name, text, one]).toEqual([name, text, expected.length])
      }
    }
    // One second of this chain has several blocks, and one day has several seconds.
    expect(found.size).toBeGreaterThan(2)
  })
  test('get-block-list: a time and a day combine, and a start after its end is refused', async () => {
    const all = await plainRows()
    const time = all[1500]?.time ?? ''
    const date = toIso(BigInt(time)).slice(0, 10)
    const ofDay = all.filter(row => toIso(BigInt(row.time)).startsWith(date))
    const both = await ask('get-block-list', { start_date: date, start_time: time, end_date: date })
    expect(both.total).toBe(ofDay.filter(row => BigInt(row.time) >= BigInt(time)).length)
    const until = await ask('get-block-list', { end_date: date, end_time: time })
    expect(until.total).toBe(all.filter(row => BigInt(row.time) <= BigInt(time)).length)
    for (const [range, message] of [
      [
        { start_date: '2026-11-22', end_date: '2026-11-21' },
        "Parameter 'start_date' is 2026-11-22 and 'end_date' is 2026-11-21; the start must not be after the end.",
      ],
      [
        { start_date: '2026-11-22', end_time: '2026-11-21T23:59:59Z' },
        "Parameter 'start_date' is 2026-11-22 and 'end_time' is 2026-11-21T23:59:59.999999999Z; the start must not be after the end.",
      ],
    ] as const)
      expect((await refusal(ask('get-block-list', range))).en).toBe(message)
  })
  test('get-block-list: returns the first row, and no row on a page beyond the end', async () => {
    expect(await askText('get-block-list', { size: '1', page: '1' })).toStartWith(
      '{"blocks":[{"seq":4852,"number":4851,"hash":"',
    )
    expect(await askText('get-block-list', { page: '9999999999999999999' })).toBe(
      '{"blocks":[],"page":9999999999999999999,"size":20,"total":4852}',
    )
    expect((await refusal(ask('get-block-list', { start_block: '6', end_block: '5' }))).kind).toBe('bad_request')
  })
})
