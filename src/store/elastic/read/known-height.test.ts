import { expect, test } from 'bun:test'
import { OtherVersion } from '#store/failures.ts'
import type { PublishedMeta } from '../schema/checkpoint.ts'
import { EDITION } from '../schema/mappings.ts'
import { readOwnEdition } from './consistent-read.ts'

const metaAt = (height: number): PublishedMeta => ({
  end: { height, hash: `h${height}`, time: 0n, lib: height },
  batch: `b${height}`,
  partitions: [0],
  generations: {},
  edition: EDITION,
})
const readOf = (found: PublishedMeta | undefined) => readOwnEdition(async () => found, 'http://e/iost')(undefined)

test('readOwnEdition: a record of this edition and no record are returned', async () => {
  for (const found of [metaAt(8), undefined]) expect(await readOf(found)).toBe(found)
})

test('readOwnEdition: a record of another edition is refused with the remedy', async () => {
  const refused = await readOf({ ...metaAt(9), edition: 'other' }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(OtherVersion)
  expect(refused).toMatchObject({ kind: 'conflict', help: expect.stringContaining('restart with that one') })
})
