import { describe, expect, test } from 'bun:test'
import type { AnswerDeps } from '#actions/answer.ts'
import { toUnits } from '#chain/amount.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { plainBallots } from '../support/oracle/plain-ballots.ts'
import { plainHeld, plainPast } from '../support/oracle/plain-past.ts'
import { seeded } from '../support/seeded.ts'
import { ask } from '../support/stores/ask.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const ballots = plainBallots(blocks)
const last = blocks.length - 1
const tokens = [...new Set([...past.changes.keys()].map(id => id.slice(0, id.indexOf('/'))))]
const producers = [...new Set(ballots.map(({ producer }) => producer))]

/** Units of 10^-18, for tokens with any number of decimals. */
const units = (text: string): bigint => toUnits(text, 18)
const sumOf = (rows: readonly Readonly<Record<string, string>>[], name: string): bigint =>
  rows.reduce((sum, row) => sum + units(row[name] ?? ''), 0n)

/** The beginning and the end of the chain, the heights around a first change, and random heights. */
const heightsOf = (first: number, random: () => number, count: number): readonly number[] =>
  [
    ...new Set([0, 1, first - 1, first, first + 1, last - 1, last]),
    ...Array.from({ length: count }, () => Math.floor(random() * blocks.length)),
  ].filter(height => height >= 0 && height <= last)

type Options = {
  /** If absent, the shared store of the recorded chain is used. */
  readonly deps?: () => Partial<AnswerDeps>
  /** The number of random heights, in addition to the fixed ones. */
  readonly count: number
  /** Checks each n-th token and producer. */
  readonly every: number
}

/**
 * Sums that hold at any height: all balances add up to the supply, and all votes of voters to those of their producer.
 */
export function pastSums({ deps = () => ({}), count, every }: Options): void {
  const random = seeded(2240)
  const asked = (action: string, params: Readonly<Record<string, string>>) => ask(action, params, { deps: deps() })

  const holdersAt = async (token: string, height: number) => {
    const rows: { account: string; balance: string }[] = []
    for (let page = 1; ; page++) {
      const at = { at_block: String(height), page: String(page), size: '500' }
      const part = await asked('get-token-holder', { token, ...at })
      rows.push(...part.holders)
      if (rows.length >= part.total) return rows
    }
  }

  describe('holders at any height', () => {
    // The blocks do not contain every use of RAM.
    const named = tokens.filter((token, at) => token !== 'ram' && (at % every === 0 || token === 'iost'))
    for (const token of named)
      test(`${token}: balances and frozen amounts add up to the supply, and the number of holders is correct`, async () => {
        const own = [...past.changes].filter(([id]) => id.startsWith(`${token}/`))
        const first = Math.min(...own.flatMap(([, changes]) => changes.map(({ height }) => height)))
        const { decimal } = await asked('get-token-detail', { token })
        for (const height of heightsOf(first, random, count)) {
          const [rows, { steps }] = await Promise.all([
            holdersAt(token, height),
            asked('get-supply-history', { token, start_block: String(height), end_block: String(height) }),
          ])
          const frozen = own.reduce((sum, [id]) => sum + plainHeld(past, id, height).frozen, 0n)
          const [{ supply, holders }] = steps
          const scale = 10n ** BigInt(18 - decimal)
          expect([height, sumOf(rows, 'balance') + frozen * scale]).toEqual([height, units(supply)])
          expect([height, rows.length, rows.some(row => row.balance === '0')]).toEqual([height, holders, false])
          if (height < first) expect([rows, supply]).toEqual([[], '0'])
        }
      })
  })

  describe('voters at any height', () => {
    for (const producer of producers.filter((_name, at) => at % every === 0))
      test(`${producer}: the votes of its voters add up to its own`, async () => {
        const own = ballots.filter(ballot => ballot.producer === producer)
        const first = own[0]?.height ?? 0
        for (const height of heightsOf(first, random, count)) {
          const { voters } = await asked('get-producer-voter', { producer, at_block: String(height) })
          const until = own.filter(ballot => ballot.height <= height)
          const votes = until.reduce((sum, { change }) => sum + change, 0n) * 10n ** 10n
          expect([height, sumOf(voters, 'votes')]).toEqual([height, votes])
          if (height < first) expect(voters).toEqual([])
          // Shares of a period that ends at this height have the same end votes.
          if (height === 0) continue
          const period = { start_block: '0', end_block: String(height) }
          const { shares } = await asked('get-reward-shares', { producer, ...period })
          expect([height, sumOf(shares, 'end_votes')]).toEqual([height, votes])
        }
        // A producer that is no longer registered has votes and no rank.
        const { producers: ranked } = await asked('get-producer-list', { size: '500' })
        const now = ranked.find(({ account }: { account: string }) => account === producer)
        const { voters } = await asked('get-producer-voter', { producer, at_block: String(last) })
        if (now !== undefined) expect(sumOf(voters, 'votes')).toBe(units(now.votes))
      })
  })
}
