import { expect, test } from 'bun:test'
import { formatFeedId, readId, type Trail } from './message.ts'

const HASH = 'H'.repeat(36)
const trail: Trail = [
  { height: 9_000_001_024, hash: `${HASH}AAAAAAAA` },
  { height: 9_000_001_008, hash: `${HASH}BBBBBBBB` },
  { height: 9_000_000_000, hash: `${HASH}CCCCCCCC` },
  { height: 8_999_935_488, hash: `${HASH}DDDDDDDD` },
]
/** The trail of an id: only the ends of the hashes are known. */
const ends = trail.map(({ height, hash }) => ({ height, hash: hash.slice(-8) }))

test('ids: an id that was written is read back, and is at most 60 bytes long', () => {
  const id = formatFeedId(123_456_789_012_345, trail)
  expect([id.length, readId(id)]).toEqual([59, { seq: 123_456_789_012_345n, trail: ends as never }])
  expect(readId(formatFeedId(0, undefined))).toEqual({ seq: 0n, trail: undefined })
  // The chain is lower than the distance of the next block.
  expect(readId('3@20.AAAAAAAABBBBBBBB')?.trail?.map(({ height }) => height)).toEqual([20, 4])
})

test('ids: of an id of an older service the row and the block are read, and any other text is refused', () => {
  const block = { height: 300, hash: 'AAAAAAAA' }
  for (const place of [
    '',
    `-5-1000-2-${HASH}`,
    `-5-1000-2-${HASH}-`,
    `-5-1000-2-${HASH}~12345678`,
    '-5-9-0-aH-3.12345678',
  ])
    for (const [end, first] of [['', undefined] as const, [`@300.${block.hash}BBBBBBBBCCCCCCCC`, block] as const]) {
      const id = readId(`17${place}${end}`)
      expect([place, end, id?.seq, id?.trail?.[0]]).toEqual([place, end, 17n, first])
    }
  for (const text of [
    '',
    '-1',
    '01',
    '1-',
    '1-5-8-2',
    '1-5-8-2-',
    '1-5-8--aH',
    '1 ',
    '٣',
    '1@',
    '1@5.1234567',
    '1@05.12345678',
  ])
    expect([text, readId(text)]).toEqual([text, undefined])
})
