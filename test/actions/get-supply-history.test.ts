import { describe, expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { refusal } from '#test/support/refusal.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)

describe('get-supply-history', () => {
  const tokens = [...new Set([...past.changes.keys()].map(id => id.slice(0, id.indexOf('/'))))]
  for (const step of ['day', 'week', 'month'])
    test(`by ${step}: opening and changes add up, the last row is the current supply`, async () => {
      for (const token of tokens) {
        const { steps } = await ask('get-supply-history', { token, step })
        const detail = await ask('get-token-detail', { token })
        const units = exactUnits
        let supply: bigint | undefined
        for (const row of steps) {
          const after = units(row.supply)
          if (supply !== undefined) expect(after).toBe(supply + units(row.issued) - units(row.destroyed))
          supply = after
        }
        const now = steps.at(-1)
        expect([token, now.supply, now.complete]).toEqual([token, detail.current_supply, false])
        const holders = await ask('get-token-holder', { token, size: '1' })
        expect(now.holders).toBe(holders.total)
      }
    })

  test('each day: supply and holders match a replay', async () => {
    for (const token of tokens.filter(each => each !== 'ram')) {
      const { steps } = await ask('get-supply-history', { token })
      const { decimal } = await ask('get-token-detail', { token })
      for (const row of steps) {
        const end = BigInt(Date.parse(row.date) + 86_400_000) * 1_000_000n
        const height = blocks.findLastIndex(block => block.time < end)
        const held = [...past.changes.keys()]
          .filter(id => id.startsWith(`${token}/`))
          .map(id => plainHeld(past, id, height))
        const supply = held.reduce((sum, { available, frozen }) => sum + available + frozen, 0n)
        expect([token, row.date, row.supply, row.holders]).toEqual([
          token,
          row.date,
          fromUnits(supply, decimal),
          held.filter(({ available }) => available > 0n).length,
        ])
      }
    }
  })

  test('a range of blocks or times covers exactly its changes, and adjacent steps meet', async () => {
    const random = seeded(2231)
    const named = tokens.filter(each => each !== 'ram')
    for (let at = 0; at < 40; at++) {
      const token = named[Math.floor(random() * named.length)] ?? 'iost'
      const { decimal } = await ask('get-token-detail', { token })
      const [start = 0, end = 0] = [random(), random()]
        .map(each => Math.floor(each * blocks.length))
        .toSorted((a, b) => a - b)
      const asked = { token, step: at % 2 === 0 ? 'day' : 'month' }
      const { steps } = await ask('get-supply-history', {
        ...asked,
        start_block: String(start),
        end_block: String(end),
      })
      const times = {
        start_time: String(blocks[start]?.time),
        end_time: String(blocks[end]?.time),
      }
      expect((await ask('get-supply-history', { ...asked, ...times })).steps).toEqual(steps)
      const gained = sumOf(steps, 'issued') - sumOf(steps, 'destroyed')
      const [before, after] = [supplyAt(token, start - 1), supplyAt(token, end)]
      const scale = 10n ** BigInt(18 - decimal)
      expect([token, start, end, gained]).toEqual([token, start, end, (after - before) * scale])
      expect([steps.at(-1).supply, steps[0].complete, steps.at(-1).complete]).toEqual([
        fromUnits(after, decimal),
        false,
        false,
      ])
      const middle = Math.floor((start + end) / 2)
      const parts = await Promise.all([
        ask('get-supply-history', { ...asked, start_block: String(start), end_block: String(middle) }),
        ask('get-supply-history', { ...asked, start_block: String(middle + 1), end_block: String(end) }),
      ])
      for (const name of ['issued', 'destroyed'] as const)
        expect(parts.reduce((sum, part) => sum + sumOf(part.steps, name), 0n)).toBe(sumOf(steps, name))
    }
  })

  test('an end after the chain means the end of the chain, a range after or before the chain has no rows', async () => {
    const asked = { token: 'iost', step: 'month', start_block: '1' }
    const whole = await ask('get-supply-history', asked)
    const behind = { end_block: '99999999', end_time: '2099-01-01T00:00:00Z' }
    expect(await ask('get-supply-history', { ...asked, ...behind })).toEqual(whole)
    expect(whole.steps.at(-1).supply).toBe((await ask('get-token-detail', { token: 'iost' })).current_supply)
    for (const none of [
      { start_block: '99999998' },
      { start_block: '0', end_time: '0' },
      { start_block: '4000', end_date: '2020-01-01' },
    ])
      expect((await ask('get-supply-history', { ...asked, ...none })).steps).toEqual([])
  })

  test('error: while the load is far behind, no range that begins or ends beyond it is answered', async () => {
    const deps = { node: spokenNode({}, { libBlock: 9_000 }) }
    const last = blocks.length - 1
    const after = String((blocks.at(-1)?.time ?? 0n) + 1n)
    const of = (params: Readonly<Record<string, string>>) =>
      refusal(ask('get-supply-history', { token: 'iost', ...params }, { deps }))
    for (const name of ['start_block', 'end_block'])
      expect(await of({ [name]: String(last + 1) })).toMatchObject({
        kind: 'loading',
        en: `The data for '${name}' ${last + 1} is not available yet: loaded up to block ${last} of 9000.`,
      })
    for (const name of ['start_time', 'end_time', 'start_date', 'end_date'])
      expect([name, await of({ [name]: name.endsWith('date') ? '2026-11-22' : after })]).toMatchObject([
        name,
        { kind: 'loading' },
      ])
  })

  test('error: an unknown step is refused', async () => {
    expect(await refusal(ask('get-supply-history', { token: 'iost', step: 'year' }))).toMatchObject({
      kind: 'bad_request',
    })
  })
})

const supplyAt = (token: string, height: number): bigint =>
  [...past.changes]
    .filter(([id]) => id.startsWith(`${token}/`))
    .flatMap(([, changes]) => changes)
    .reduce((sum, { height: at, change }) => (at <= height ? sum + change : sum), 0n)

const sumOf = (rows: readonly Readonly<Record<string, string>>[], name: string): bigint =>
  rows.reduce((sum, row) => sum + exactUnits(row[name] ?? '0'), 0n)

function exactUnits(text: string): bigint {
  const [whole = '0', part = ''] = text.split('.')
  return BigInt(whole) * 10n ** 18n + BigInt(part.padEnd(18, '0'))
}
