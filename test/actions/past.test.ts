import { describe, expect, test } from 'bun:test'
import { createChangeBookings } from '#actions/shape/changes.ts'
import { fromUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainBallots } from '#test/support/oracle/plain-ballots.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'

type Params = Readonly<Record<string, string>>

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const random = seeded(22)
const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
const iost = (units: bigint): string => fromUnits(units, 8)

/** Owners of IOST. */
const owners = [...past.changes.keys()].flatMap(id => (id.startsWith('iost/') ? [id.slice('iost/'.length)] : []))

describe('answers of the past', () => {
  test('get-account-balance: answers at random heights match a replay of the blocks', async () => {
    for (let at = 0; at < 120; at++) {
      const [account, height] = [one(owners), Math.floor(random() * blocks.length)]
      const { available, frozen, list } = plainHeld(past, `iost/${account}`, height)
      const entries = list.map(([amount, time]) => ({ amount: iost(BigInt(amount ?? 0)), time }))
      expect([account, await ask('get-account-balance', { account, at_block: String(height) })]).toMatchObject([
        account,
        { balance: iost(available), frozen_balance: { total: iost(frozen), list: entries }, at_block: height },
      ])
    }
  })

  const voters = new Set(plainBallots(blocks).map(({ voter }) => voter))
  const some = [...Array.from({ length: 20 }, () => one(owners)), 'busyhub', 'vote.iost', 'deadaddr', '0']
  test.each([
    ['get-account-balance', some.map(account => ({ account }))],
    ['get-token-list', some.map(account => ({ account }))],
    ['get-account-assets', [...voters, ...some].map(account => ({ account }))],
    ['get-token-holder', ['iost', 'ram', 'contribute', 'big8'].map(token => ({ token, page: '2', size: '7' }))],
    ['get-producer-voter', ['producer000', 'prod_01', 'prod_02', 'prod_11'].map(producer => ({ producer }))],
    ['get-producer-voter', [{ producer: 'prod_02', page: '2', size: '2' }]],
  ] as readonly (readonly [string, readonly Params[]])[])(
    '%s: the answer after the last block is the current one',
    async (action, calls) => {
      for (const asked of calls) {
        const { at_block, at_time, ...then } = await ask(action, { ...asked, at_block: String(blocks.length - 1) })
        expect([at_block, BigInt(Date.parse(at_time))]).toEqual([4851, (blocks.at(-1)?.time ?? 0n) / 1_000_000n])
        expect(then).toEqual(await ask(action, asked))
      }
    },
  )

  test('get-token-list: at genesis there are the tokens of genesis', async () => {
    for (const account of ['admin', 'deadaddr', ...Array.from({ length: 10 }, () => one(owners))]) {
      const { tokens } = await ask('get-token-list', { account, at_block: '0' })
      const given = [...past.changes.keys()].filter(
        id => id.endsWith(`/${account}`) && plainHeld(past, id, 0).available > 0n,
      )
      expect(tokens.map(({ symbol }: { symbol: string }) => `${symbol}/${account}`)).toEqual(given.sort())
    }
  })

  test('at_time: returns the state after the last block that is not later', async () => {
    for (let at = 0; at < 20; at++) {
      const height = 1 + Math.floor(random() * (blocks.length - 2))
      const [account, time] = [one(owners), blocks[height]?.time ?? 0n]
      const of = (params: Params) => ask('get-account-balance', { account, ...params })
      expect(await of({ at_time: String(time) })).toEqual(await of({ at_block: String(height) }))
      expect(await of({ at_time: String(time - 1n) })).toEqual(await of({ at_block: String(height - 1) }))
    }
  })
})

type Row = { block: number; action: string; change: string; balance: string; frozen: string }

describe('get-balance-history', () => {
  /** Owners that froze amounts for themselves. */
  const lockers = owners.filter(name => past.changes.get(`iost/${name}`)?.some(({ own }) => own !== undefined))
  const some = Array.from({ length: 25 }, () => one(owners))

  test.each([...new Set([...some, ...lockers, 'busyhub'])])(
    '%s: changes and the balance after each block match a replay',
    async account => {
      const rows: Row[] = []
      for (let page = 1; ; page++) {
        const part = await ask('get-balance-history', { account, sort: 'asc', size: '100', page: String(page) })
        rows.push(...part.changes)
        if (rows.length >= part.total) break
      }
      const moved = rows.filter(({ action }) => action !== 'release')
      const plain = (past.changes.get(`iost/${account}`) ?? []).filter(
        ({ change, own }) => change !== 0n || own !== undefined,
      )
      expect(moved.map(({ block, change }) => [block, change])).toEqual(
        plain.map(({ height, change }) => [height, iost(change)]),
      )
      for (const [at, { block, balance, frozen }] of rows.entries()) {
        if (rows[at + 1]?.block === block) continue
        const held = plainHeld(past, `iost/${account}`, block)
        expect([balance, frozen]).toEqual([iost(held.available), iost(held.frozen)])
      }
    },
  )

  test('an amount that an owner freezes for itself is one row with the change 0, and neither in, out nor a booking', async () => {
    expect(lockers.length).toBeGreaterThan(5)
    for (const account of lockers) {
      const all = past.changes.get(`iost/${account}`) ?? []
      const own = all.flatMap(({ height, own }) => (own === undefined ? [] : [height]))
      for (const height of own) {
        const range = { start_block: String(height), end_block: String(height) }
        const { changes } = await ask('get-balance-history', { account, ...range })
        const locked = changes.filter((row: Row) => row.action === 'transferFreeze' && row.change === '0')
        expect([account, height, locked.length]).toEqual([account, height, own.filter(each => each === height).length])
        const bookings = createChangeBookings('iost')({ rows: changes })
        expect(bookings.map(({ change }) => change)).not.toContain('0')
      }
    }
  })
})
