import { beforeAll, describe, expect, test } from 'bun:test'
import type { LoadedBlock } from '#chain/block.ts'
import { deriveBlock } from '#derive/derive-block.ts'
import { days } from '#indices/day.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { spreadDays } from '#test/support/nodes/spread-days.ts'
import { plainDays } from '#test/support/oracle/plain-days.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { type DerivedChain, deriveChain, derivedRecording } from '#test/support/stores/derived-chain.ts'
import { generatedBlocks } from '../generator/generated-blocks.ts'

// Awaited here and not in a test: reading a chain takes longer than the time limit of a test.
const chains = { recorded: await recordedBlocks(), generated: await generatedBlocks() }

const dateOf = ({ block }: LoadedBlock): string => new Date(Number(block.time / 1_000_000n)).toISOString().slice(0, 10)

/** The figures of each day that are counted from its blocks, without those of its end. */
const figuresOf = ({ state }: DerivedChain) =>
  new Map(
    state.all(days).map(({ id, ram: _, ...doc }) => [id, { ...doc, iost_moved: BigInt(doc.iost_moved) }] as const),
  )

for (const [name, blocks] of Object.entries(chains))
  describe(`days of the ${name} chain`, () => {
    test('deriveBlock: the figures of each day match a count of its blocks', async () => {
      const plain = plainDays(blocks.map(({ block }) => block))
      const derived = figuresOf(name === 'recorded' ? await derivedRecording() : deriveChain(blocks))
      expect([...derived.keys()]).toEqual([...plain.keys()])
      for (const [date, expected] of plain) expect([date, derived.get(date)]).toEqual([date, expected as never])
    })

    // The chain is derived once for both tests, since that takes seconds.
    const stretched = spreadDays(blocks.slice(0, SOAK ? undefined : 1_500))
    let cut: DerivedChain
    /** RAM after the last block of each day. */
    const rams = new Map<string, unknown>()
    beforeAll(() => {
      cut = deriveChain(stretched, {
        sizeOf: batch => 1 + ((batch * 37) % 90),
        derive: (loaded, state, plan) => {
          const documents = deriveBlock(loaded, state, plan)
          rams.set(dateOf(loaded), state.get(statistics, STATISTICS)?.ram)
          return documents
        },
      })
    })

    test('deriveBlock: figures match if batches span days and days span batches', () => {
      const plain = plainDays(stretched.map(({ block }) => block))
      expect(plain.size).toBeGreaterThan(30)
      const derived = figuresOf(cut)
      expect([...derived.keys()]).toEqual([...plain.keys()])
      for (const [date, expected] of plain) expect([date, derived.get(date)]).toEqual([date, expected as never])
      const sums = [...plain.values()]
      for (const figure of ['failed', 'movements', 'new_accounts'] as const)
        expect([figure, sums.filter(day => day[figure] > 0).length > 1]).toEqual([figure, true])
    })

    test('deriveBlock: RAM at the end of a day is that of its last block', () => {
      const all = cut.state.all(days)
      expect(all.length).toBe(rams.size)
      for (const { id, ram } of all) expect([id, ram]).toEqual([id, rams.get(id) as never])
    })
  })
