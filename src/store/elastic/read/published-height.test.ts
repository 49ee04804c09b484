import { expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { MISSING_INDEX } from '../client/failures.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { EDITION } from '../schema/mappings.ts'
import { Newer } from './consistent-read.ts'
import { readableFrom, removedMeanwhile } from './published-height.ts'

const metaAt = (height: number, edition?: string): PublishedMeta => ({
  end: { height, hash: `hash ${height}`, time: 0n, lib: height },
  batch: `batch ${height}`,
  partitions: [0],
  ...(edition === undefined ? {} : { edition }),
})

const lookedAt = async (metas: readonly (PublishedMeta | undefined)[]) => {
  const left = [...metas]
  const look = readableFrom(async () => left.shift())
  const heights: (number | undefined)[] = []
  for (const _ of metas) heights.push((await look(undefined))?.end.height)
  return heights
}

test('readableFrom: stays with the last height it could read when another edition is published', async () => {
  expect(await lookedAt([metaAt(7), metaAt(8, EDITION), metaAt(9, 'other'), metaAt(10, 'other')])).toEqual([
    7, 8, 8, 8,
  ])
  expect(await lookedAt([metaAt(7), metaAt(9, 'other'), metaAt(9, EDITION)])).toEqual([7, 7, 9])
})

test('readableFrom: accepts any edition at first, then changes to its own', async () => {
  expect(await lookedAt([undefined, metaAt(7, 'other'), metaAt(8, 'other'), metaAt(9, EDITION)])).toEqual([
    undefined,
    7,
    8,
    9,
  ])
})

test('removedMeanwhile: a missing index makes the read begin again only after another publication', async () => {
  const gone = new Failure('unavailable', 'gone', { details: { type: MISSING_INDEX } })
  const reading = (published: PublishedMeta) =>
    removedMeanwhile(Promise.reject(gone), metaAt(7), async () => published).catch((error: unknown) => error)
  expect(await reading(metaAt(8))).toBeInstanceOf(Newer)
  expect(await reading(metaAt(7))).toBe(gone)
  expect(await removedMeanwhile(Promise.resolve(1), metaAt(7), async () => metaAt(8))).toBe(1)
})
