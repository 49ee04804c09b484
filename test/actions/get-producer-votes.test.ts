import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import type { LoadedBlock, Receipt } from '#chain/block.ts'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainChangeOfWeek, plainVoteDays, voteChanges } from '#test/support/oracle/plain-votes.ts'
import { refusal } from '#test/support/refusal.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { ask, askText } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { chainOf, genesis, receipt, START, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

const whole = (days: readonly object[]) => ({ days, page: 1, size: days.length, total: days.length })

describe('get-producer-votes: the recorded chain', () => {
  test('get-producer-votes: each day is a plain replay of the receipts', async () => {
    const blocks = (await recordedBlocks()).map(({ block }) => block)
    const changes = voteChanges(blocks)
    const [first = 0n, last = 0n] = [blocks[0]?.time, blocks.at(-1)?.time]
    const { producers, producerVotes } = await oracle()
    let voted = 0
    for (const producer of producers.keys()) {
      const own = changes.filter(change => change.producer === producer)
      const expected = plainVoteDays(own, first, last)
      expect([producer, await ask('get-producer-votes', { producer })]).toEqual([producer, whole(expected)])
      const votes = String(producerVotes.get(producer)?.get('votes') ?? '0')
      expect(expected.at(-1)).toMatchObject({ date: '2026-11-21', votes, change: votes, complete: false })
      expect(expected.length).toBe(31)
      voted += Number(votes !== '0')
    }
    expect(voted).toBeGreaterThan(5)
  })

  test('get-producer-votes: what is no producer, and what is none any more, is not found', async () => {
    for (const producer of ['busyhub', 'prod_11']) {
      expect((await refusal(ask('get-producer-votes', { producer }))).kind).toBe('not_found')
      expect(await askText('get-producer-votes', { producer }, { compat: 'iostabc' })).toBe(
        '{"days":[],"page":1,"size":0,"total":0}',
      )
    }
  })
})

const PRODUCERS = ['alice00', 'bob0000', 'carol00']
const HOUR = 3_600_000_000_000n

/** Blocks hours to days apart, in which some producer's votes may change; then so many twice a day, with votes for all. */
type Months = { readonly quiet: number; readonly busy: number }

/** A chain of some months with votes given and taken. */
const months = (random: () => number, { quiet, busy }: Months): readonly LoadedBlock[] => {
  const upTo = (most: number): number => Math.floor(random() * most)
  const given = new Map<string, bigint>()
  const vote = (producer: string): Receipt => {
    const now = given.get(producer) ?? 0n
    const isTaken = random() < 0.4
    // Now and then all of them are taken, so that a day may end as it began.
    const units = isTaken ? (random() < 0.3 ? now : now / 3n) : BigInt(upTo(2 ** 50))
    given.set(producer, now + (isTaken ? -units : units))
    const args = ['alice00', producer, fromUnits(units, 8)]
    return receipt(`vote_producer.iost/${isTaken ? 'unvote' : 'vote'}`, args)
  }
  const some = () => Array.from({ length: upTo(4) }, () => vote(PRODUCERS[upTo(PRODUCERS.length)] ?? ''))
  const register = PRODUCERS.map((name, at) =>
    receipt('vote_producer.iost/applyRegister', [name, `key${at}`, '', '', '', true]),
  )
  const receipts = [
    register,
    ...Array.from({ length: quiet }, some),
    ...Array.from({ length: busy }, () => [...some(), ...PRODUCERS.map(vote)]),
  ]
  let time = START
  return chainOf([genesis()], ...receipts.map(list => [transaction({ receipts: list })])).map(loaded => {
    const { height } = loaded.block
    time += BigInt(height > quiet ? 1 + upTo(20) : 1 + Math.floor(random() ** 4 * 200)) * HOUR
    return { ...loaded, block: { ...loaded.block, time } }
  })
}

describe('get-producer-votes: a chain of some months', () => {
  let opened: Awaited<ReturnType<typeof temporarySqlite>>
  beforeAll(async () => {
    opened = await temporarySqlite()
  })
  afterAll(() => opened.destroy())

  test('get-producer-votes, get-producer-list: after every block what a plain replay says', async () => {
    const seed = seedOf(11)
    const chain = months(seeded(seed), { quiet: 40, busy: 110 })
    const { store } = opened
    const deps = { store }
    let [moved, short] = [0, 0]
    const compare = async (height: number): Promise<void> => {
      const blocks = chain.slice(0, height + 1).map(({ block }) => block)
      const changes = voteChanges(blocks)
      const [first = 0n, last = 0n] = [blocks[0]?.time, blocks.at(-1)?.time]
      const rows = (await ask('get-producer-list', {}, { deps })).producers as readonly Row[]
      for (const producer of height === 0 ? [] : PRODUCERS) {
        const own = changes.filter(change => change.producer === producer)
        const expected = whole(plainVoteDays(own, first, last))
        const said = await ask('get-producer-votes', { producer }, { deps })
        expect([seed, height, producer, said]).toEqual([seed, height, producer, expected])
        const week = plainChangeOfWeek(own, last)
        const row = rows.find(({ account }) => account === producer)
        expect([seed, height, producer, row?.votes_change_7d]).toEqual([seed, height, producer, week])
        moved += Number(week !== said.days.at(-1).change)
        short += Number(said.total < 31)
      }
    }
    await commitRuns(
      store,
      chain.map(loaded => [loaded]),
      { lib: chain.length, onCommitted: compare },
    )
    // The chain was young, and grew older than the days that are kept.
    expect({ seed, moved: moved > 100, short: short > 3 && short < 300 }).toEqual({
      seed,
      moved: true,
      short: true,
    })
  }, 60_000)
})

type Row = { readonly account: string; readonly votes_change_7d: string }
