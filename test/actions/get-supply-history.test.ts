import { describe, expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)

describe('get-supply-history', () => {
  const tokens = [...new Set([...past.changes.keys()].map(id => id.slice(0, id.indexOf('/'))))]
  for (const step of ['day', 'week', 'month'])
    test(`by ${step}: opening and changes add up, the last row is as now`, async () => {
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

  test('each day: supply and holders of a plain replay', async () => {
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

  test('error: another step', async () => {
    expect(await refusal(ask('get-supply-history', { token: 'iost', step: 'year' }))).toMatchObject({
      kind: 'bad_request',
    })
  })
})

const exactUnits = (text: string): bigint => {
  const [whole = '0', part = ''] = text.split('.')
  return BigInt(whole) * 10n ** 18n + BigInt(part.padEnd(18, '0'))
}
