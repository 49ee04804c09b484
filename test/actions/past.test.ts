import { describe, expect, test } from 'bun:test'
import { exactIso, toIso } from '#chain/time.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { refusal } from '#test/support/refusal.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const random = seeded(22)
const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T

/** Owners of IOST whose names the interface accepts. */
const owners = [...past.changes.keys()].flatMap(id => (id.startsWith('iost/') ? [id.slice('iost/'.length)] : []))

function iost(units: bigint): string {
  const digits = String(units).padStart(9, '0')
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/, '') || '0'
}

describe('answers of the past', () => {
  test('get-account-balance: answers at random heights match a replay of the blocks', async () => {
    for (let at = 0; at < 300; at++) {
      const owner = one(owners)
      const height = Math.floor(random() * blocks.length)
      const { available, frozen, list } = plainHeld(past, `iost/${owner}`, height)
      const answer = await ask('get-account-balance', { account: owner, at_block: String(height) })
      expect([owner, answer.balance, answer.frozen_balance, answer.at_block]).toEqual([
        owner,
        iost(available),
        {
          total: iost(frozen),
          list: list.map(([amount, time]) => ({ amount: iost(BigInt(amount ?? 0)), time })),
        },
        height,
      ])
    }
  })

  test('get-account-balance: the answer after the last block matches the current one', async () => {
    for (const account of new Set([...Array.from({ length: 40 }, () => one(owners)), 'vote.iost', 'deadaddr'])) {
      const { at_block, at_time, ...then } = await ask('get-account-balance', {
        account,
        at_block: String(blocks.length - 1),
      })
      expect({ at_block, at_time }).toEqual({
        at_block: blocks.length - 1,
        at_time: toIso(blocks.at(-1)?.time ?? 0n),
      })
      expect(then).toEqual(await ask('get-account-balance', { account }))
    }
  })

  test('get-token-list: the answer after the last block matches the current one, the one at genesis has the tokens of genesis', async () => {
    for (const account of ['busyhub', 'admin', ...Array.from({ length: 20 }, () => one(owners))]) {
      const now = await ask('get-token-list', { account })
      const { at_block, at_time, ...then } = await ask('get-token-list', {
        account,
        at_block: String(blocks.length - 1),
      })
      expect({ at_block, at_time }).toEqual({
        at_block: blocks.length - 1,
        at_time: toIso(blocks.at(-1)?.time ?? 0n),
      })
      expect(then).toEqual(now)
      const first = await ask('get-token-list', { account, at_block: '0' })
      expect(first.at_block).toBe(0)
      const given = [...past.changes.keys()].filter(
        id => id.endsWith(`/${account}`) && plainHeld(past, id, 0).available > 0n,
      )
      expect(first.tokens.map(({ symbol }: { symbol: string }) => `${symbol}/${account}`)).toEqual(given.sort())
    }
  })

  test('at_time: returns the state after the last block that is not later', async () => {
    for (let at = 0; at < 40; at++) {
      const height = 1 + Math.floor(random() * (blocks.length - 2))
      const time = blocks[height]?.time ?? 0n
      const account = one(owners)
      const of = await ask('get-account-balance', { account, at_block: String(height) })
      expect(await ask('get-account-balance', { account, at_time: String(time) })).toEqual(of)
      const before = await ask('get-account-balance', { account, at_block: String(height - 1) })
      expect(await ask('get-account-balance', { account, at_time: String(time - 1n) })).toEqual(before)
    }
  })

  test('error: both parameters together, a height that is not loaded and a time before the first block are refused', async () => {
    const refused = async (asked: Readonly<Record<string, string>>) =>
      refusal(ask('get-account-balance', { account: 'busyhub', ...asked }))
    expect(await refused({ at_block: '1', at_time: '2026-11-21T00:00:00Z' })).toEqual({
      kind: 'bad_request',
      en: "Parameters 'at_block' and 'at_time' cannot be combined; give only one of them.",
      zh: "参数 'at_block' 与 'at_time' 不能同时使用；请只提供其中一个。",
    })
    const last = blocks.length - 1
    expect(await refused({ at_block: String(last + 1) })).toEqual({
      kind: 'bad_request',
      en: `Parameter 'at_block' is ${last + 1}, but the last block that is loaded is ${last}; it must not be above that.`,
      zh: `参数 'at_block' 的值为 ${last + 1}，而已加载的最新区块为 ${last}；不得超过该高度。`,
    })
    const genesis = blocks[0]?.time ?? 0n
    expect(await refused({ at_time: String(genesis - 1n) })).toEqual({
      kind: 'bad_request',
      en: `Parameter 'at_time' is ${exactIso(genesis - 1n)}, before the first block of the chain; it must be at or after ${exactIso(genesis)}.`,
      zh: `参数 'at_time' 的值为 ${exactIso(genesis - 1n)}，早于链上首个区块；不得早于 ${exactIso(genesis)}。`,
    })
  })
})
