import { describe, expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const random = seeded(23)
const ids = [...past.changes.keys()].filter(id => id.startsWith('iost/'))
const some = Array.from({ length: 25 }, () => ids[Math.floor(random() * ids.length)] ?? '')

type Row = { block: number; action: string; change: string; balance: string; frozen: string; memo: unknown }

describe('get-balance-history', () => {
  for (const id of new Set([...some, 'iost/busyhub']))
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
      const plain = (past.changes.get(id) ?? []).filter(({ change }) => change !== 0n)
      expect(moved.map(({ block, change }) => [block, change])).toEqual(
        plain.map(({ height, change }) => [height, fromUnits(change, 8)]),
      )
      for (const [at, { block, balance, frozen }] of rows.entries()) {
        if (rows[at + 1]?.block === block) continue
        const held = plainHeld(past, id, block)
        expect([balance, frozen]).toEqual([fromUnits(held.available, 8), fromUnits(held.frozen, 8)])
      }
    })
})
