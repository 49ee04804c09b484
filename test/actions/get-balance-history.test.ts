import { describe, expect, test } from 'bun:test'
import { createChangeBookings } from '#actions/shape/changes.ts'
import { fromUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const random = seeded(23)
const ids = [...past.changes.keys()].filter(id => id.startsWith('iost/'))
/** Owners that froze amounts for themselves. */
const lockers = ids.filter(id => past.changes.get(id)?.some(({ own }) => own !== undefined))
const some = Array.from({ length: 25 }, () => ids[Math.floor(random() * ids.length)] ?? '')

type Row = { block: number; action: string; change: string; balance: string; frozen: string; memo: unknown }

describe('get-balance-history', () => {
  for (const id of new Set([...some, ...lockers, 'iost/busyhub']))
    test(`${id}: changes and the balance after each block match a replay`, async () => {
      const account = id.slice('iost/'.length)
      const rows: Row[] = []
      for (let page = 1; ; page++) {
        const part = await ask('get-balance-history', {
          account,
          sort: 'asc',
          size: '100',
          page: String(page),
        })
        rows.push(...part.changes)
        if (rows.length >= part.total) break
      }
      const moved = rows.filter(({ action }) => action !== 'release')
      const plain = (past.changes.get(id) ?? []).filter(({ change, own }) => change !== 0n || own !== undefined)
      expect(moved.map(({ block, change }) => [block, change])).toEqual(
        plain.map(({ height, change }) => [height, fromUnits(change, 8)]),
      )
      for (const [at, { block, balance, frozen }] of rows.entries()) {
        if (rows[at + 1]?.block === block) continue
        const held = plainHeld(past, id, block)
        expect([balance, frozen]).toEqual([fromUnits(held.available, 8), fromUnits(held.frozen, 8)])
      }
    })

  test('an amount that an owner freezes for itself is one row with the change 0, and neither in, out nor a booking', async () => {
    expect(lockers.length).toBeGreaterThan(5)
    for (const id of lockers) {
      const account = id.slice('iost/'.length)
      const own = (past.changes.get(id) ?? []).flatMap(({ height, own }) => (own === undefined ? [] : [height]))
      for (const height of own) {
        const range = { start_block: String(height), end_block: String(height), sort: 'asc' }
        const { changes } = await ask('get-balance-history', { account, ...range })
        const locked = changes.filter((row: Row) => row.action === 'transferFreeze' && row.change === '0')
        expect([id, height, locked.length]).toEqual([id, height, own.filter(each => each === height).length])
        const bookings = createChangeBookings('iost')({ rows: changes })
        expect(bookings.map(({ change }) => change)).not.toContain('0')
      }
    }
  })
})
