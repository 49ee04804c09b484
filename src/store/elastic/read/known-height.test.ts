import { expect, test } from 'bun:test'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { EDITION } from '../schema/mappings.ts'
import { readableFrom } from './known-height.ts'

const metaAt = (height: number): PublishedMeta => ({
  end: { height, hash: `h${height}`, time: 0n, lib: height },
  batch: `b${height}`,
  partitions: [0],
})
const editionAt = (height: number, edition: string): PublishedMeta => ({ ...metaAt(height), edition })

const lookedAt = async (metas: readonly (PublishedMeta | undefined)[]) => {
  const left = [...metas]
  const look = readableFrom(async () => left.shift())
  const heights: (number | undefined)[] = []
  for (const _ of metas) heights.push((await look(undefined))?.end.height)
  return heights
}

test('readableFrom: the last readable height is kept when another edition is published', async () => {
  const [ours, theirs] = [editionAt(8, EDITION), editionAt(9, 'other')]
  expect(await lookedAt([metaAt(7), ours, theirs, editionAt(10, 'other')])).toEqual([7, 8, 8, 8])
  expect(await lookedAt([metaAt(7), theirs, editionAt(9, EDITION)])).toEqual([7, 7, 9])
})

test('readableFrom: any edition is accepted at first, then changes to its own', async () => {
  const metas = [undefined, editionAt(7, 'other'), editionAt(8, 'other'), editionAt(9, EDITION)]
  expect(await lookedAt(metas)).toEqual([undefined, 7, 8, 9])
})

test('readableFrom: a read that began earlier and ends later does not set the last height back', async () => {
  const early = Promise.withResolvers<PublishedMeta>()
  const left = [early.promise, editionAt(8, EDITION), editionAt(9, 'other')]
  const look = readableFrom(async () => left.shift())
  const first = look(undefined)
  await look(undefined)
  early.resolve(editionAt(7, EDITION))
  expect((await first)?.end.height).toBe(7)
  expect((await look(undefined))?.end.height).toBe(8)
})
