import { describe, expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainBallots } from '#test/support/oracle/plain-ballots.ts'
import { refusal } from '#test/support/refusal.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const ballots = plainBallots(blocks)
const random = seeded(2211)
const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
const producers = [...new Set(ballots.map(({ producer }) => producer))]
const voters = [...new Set(ballots.map(({ voter }) => voter))]
const last = blocks.length - 1
const timeOf = (height: number): bigint => blocks[height]?.time ?? 0n

/** Votes × ns, block by block: the votes of a voter after each block, until the next one. */
function plainWeight(voter: string, producer: string, [start, end]: readonly [number, number]) {
  const own = ballots.filter(each => each.voter === voter && each.producer === producer)
  const after = (height: number): bigint =>
    own.filter(each => each.height <= height).reduce((sum, { change }) => sum + change, 0n)
  let weight = 0n
  const stops = [start, ...own.map(({ height }) => height).filter(at => at > start && at < end), end]
  for (const [at, from] of stops.slice(0, -1).entries())
    weight += after(from) * (timeOf(stops[at + 1] ?? end) - timeOf(from))
  const isThere = after(start) > 0n || own.some(({ height }) => height > start && height <= end)
  return { first: after(start), last: after(end), weight, isThere }
}

const cut = (numerator: bigint, denominator: bigint): string => fromUnits((numerator * 10n ** 18n) / denominator, 18)

describe('get-reward-shares', () => {
  const periods = Array.from({ length: 40 }, (): readonly [number, number] => {
    const [a, b] = [Math.floor(random() * last), Math.floor(random() * last)]
    return a < b ? [a, b] : [b, a + 1]
  })
  test('at random periods: shares match the votes weighted by time', async () => {
    let changed = 0
    for (const [start, end] of [...periods, [0, last] as const]) {
      const producer = one(producers)
      const answer = await ask('get-reward-shares', {
        producer,
        start_block: String(start),
        end_block: String(end),
      })
      const expected = voters
        .map(voter => ({ voter, ...plainWeight(voter, producer, [start, end]) }))
        .filter(({ isThere }) => isThere)
      const all = expected.reduce((sum, { weight }) => sum + weight, 0n)
      const length = timeOf(end) - timeOf(start)
      expect([answer.start_block, answer.end_block, answer.seconds, answer.vote_seconds]).toEqual([
        start,
        end,
        fromUnits(length, 9),
        fromUnits(all, 17),
      ])
      const byName = (a: { account: string }, b: { account: string }) => (a.account < b.account ? -1 : 1)
      expect(answer.shares.toSorted(byName)).toEqual(
        expected
          .map(each => ({
            account: each.voter,
            start_votes: fromUnits(each.first, 8),
            end_votes: fromUnits(each.last, 8),
            mean_votes: cut(each.weight, length * 10n ** 8n),
            vote_seconds: fromUnits(each.weight, 17),
            share: all === 0n ? '0' : cut(each.weight, all),
          }))
          .toSorted(byName),
      )
      changed += expected.filter(each => each.first !== each.last).length
    }
    expect(changed).toBeGreaterThan(20)
  })

  test('adjacent periods add up to the whole, also by times', async () => {
    const middle = 2_000
    const at = String(timeOf(middle))
    const sumOf = async (producer: string, asked: Readonly<Record<string, string>>): Promise<bigint> =>
      exactUnits((await ask('get-reward-shares', { producer, ...asked })).vote_seconds)
    let all = 0n
    for (const producer of producers) {
      const whole = await sumOf(producer, {})
      expect((await sumOf(producer, { end_time: at })) + (await sumOf(producer, { start_time: at }))).toBe(whole)
      all += whole
    }
    expect(all).toBeGreaterThan(0n)
  })

  test('error: an end given twice, a period that ends before it begins and a height that is not loaded are refused', async () => {
    const refused = async (asked: Readonly<Record<string, string>>) =>
      refusal(ask('get-reward-shares', { producer: 'producer000', ...asked }))
    expect(await refused({ start_block: '1', start_time: '0' })).toEqual({
      kind: 'bad_request',
      en: "Parameters 'start_block' and 'start_time' cannot be combined; give only one of them.",
      zh: "参数 'start_block' 与 'start_time' 不能同时使用；请只提供其中一个。",
    })
    expect(await refused({ start_block: '9', end_block: '9' })).toEqual({
      kind: 'bad_request',
      en: 'The period begins with block 9 and ends with block 9; it must end with a later one.',
      zh: '期间从区块 9 开始，到区块 9 结束；结束区块必须晚于起始区块。',
    })
    expect(await refused({ end_block: String(last + 1) })).toEqual({
      kind: 'bad_request',
      en: `Parameter 'end_block' is ${last + 1}, but the last block that is loaded is ${last}; it must not be above that.`,
      zh: `参数 'end_block' 的值为 ${last + 1}，而已加载的最新区块为 ${last}；不得超过该高度。`,
    })
  })
})

function exactUnits(text: string): bigint {
  const [whole = '0', part = ''] = text.split('.')
  return BigInt(whole) * 10n ** 18n + BigInt(part.padEnd(18, '0'))
}
