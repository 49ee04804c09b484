import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainChangeOfWeek, plainVoteDays, voteChanges } from '#test/support/oracle/plain-votes.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { VOTED, votedChain } from '#test/support/stores/voted-chain.ts'

const whole = (days: readonly object[]) => ({ days, page: 1, size: days.length, total: days.length })

describe('get-producer-votes: the recorded chain', () => {
  test('get-producer-votes: each day matches a replay of the receipts', async () => {
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
})

describe('get-producer-votes: a chain of some months', () => {
  let opened: Awaited<ReturnType<typeof temporarySqlite>>
  beforeAll(async () => {
    opened = await temporarySqlite()
  })
  afterAll(() => opened.destroy())

  test('get-producer-votes, get-producer-list: after every block both match a replay', async () => {
    const seed = seedOf(11)
    const chain = votedChain(seeded(seed), { quiet: 40, busy: 110 })
    const { store } = opened
    const deps = { store }
    let [moved, short] = [0, 0]
    const compare = async (height: number): Promise<void> => {
      const blocks = chain.slice(0, height + 1).map(({ block }) => block)
      const changes = voteChanges(blocks)
      const [first = 0n, last = 0n] = [blocks[0]?.time, blocks.at(-1)?.time]
      const rows = (await ask('get-producer-list', {}, { deps })).producers as readonly Row[]
      for (const producer of height === 0 ? [] : VOTED) {
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
    // During the test the chain grew older than the period that is kept.
    expect({ seed, moved: moved > 100, short: short > 3 && short < 300 }).toEqual({
      seed,
      moved: true,
      short: true,
    })
  })
})

type Row = { readonly account: string; readonly votes_change_7d: string }
