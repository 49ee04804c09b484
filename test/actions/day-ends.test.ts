import { expect, test } from 'bun:test'
import { createDayEndCache, type DayEndCache } from '#actions/find/caches.ts'
import { readDayEnds } from '#actions/find/point.ts'
import { startOfDay, toDay } from '#chain/time.ts'
import type { View } from '#store/port.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

const store = await loadedStore()
const blocks = (await recordedBlocks()).map(({ block }) => block)
const [genesis, latest] = [toDay(blocks[0]?.time ?? 0n), toDay(blocks.at(-1)?.time ?? 0n)]
const days = [genesis - 1, genesis, genesis + 1, latest - 1, latest, latest + 1]
const expected = days.map(day => blocks.findLastIndex(({ time }) => time < startOfDay(day)))

/** The ends that are found in a view, and the number of blocks read to find them. */
const endsIn = async (dayEnds: DayEndCache, over: Partial<View> = {}) =>
  store.read(async view => {
    let reads = 0
    const counted: View = {
      ...view,
      ...over,
      get: (index, id) => {
        reads += 1
        return view.get(index, id)
      },
      getMany: (index, ids) => {
        reads += ids.length
        return view.getMany(index, ids)
      },
    }
    return { ends: await readDayEnds({ view: counted, dayEnds }, days), reads }
  })

test('day ends match the blocks, and are searched only once', async () => {
  const kept = createDayEndCache()
  const first = await endsIn(kept)
  expect(first.ends).toEqual(expected)
  expect(first.reads).toBeGreaterThan(10)
  expect(await endsIn(kept)).toEqual({ ends: expected, reads: 0 })
})

test('kept day ends are used for later heights of the same chain, and not for another chain or an earlier height', async () => {
  const { at } = await store.read(async view => ({ at: view.at }))
  const before = blocks[at.height - 10]
  if (before === undefined) throw new TypeError('The recorded chain is too short.')
  const ofEarlier = async (hash: string) => {
    const kept = createDayEndCache()
    // A wrong end shows that the answer is from the kept ones.
    const view = { at: { ...at, height: before.height, hash } } as View
    kept.keep(view, new Map(days.map(day => [day, 7])))
    return kept
  }
  const later = await endsIn(await ofEarlier(before.hash))
  expect(later).toEqual({ ends: days.map(() => 7), reads: 1 })
  expect((await endsIn(await ofEarlier('another chain'))).ends).toEqual(expected)
  const kept = createDayEndCache()
  kept.keep({ at: { ...at, height: at.height + 1 } } as View, new Map(days.map(day => [day, 7])))
  expect((await endsIn(kept)).ends).toEqual(expected)
})
