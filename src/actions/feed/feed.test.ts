import { expect, test } from 'bun:test'
import { formatFeedId, readId, type Trail } from './message.ts'
import { openOutbox } from './outbox.ts'

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
  const row = `-5-1000-2-${HASH}`
  for (const place of ['', row, `${row}-`, `${row}~12345678`, '-5-9-0-aH-3.12345678'])
    for (const [end, first] of [['', undefined] as const, [`@300.${block.hash}BBBBBBBBCCCCCCCC`, block] as const]) {
      const id = readId(`17${place}${end}`)
      expect([place, end, id?.seq, id?.trail?.[0]]).toEqual([place, end, 17n, first])
    }
  const others = [
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
  ]
  for (const text of others) expect([text, readId(text)]).toEqual([text, undefined])
})

const limited = (onEnd?: () => void) => openOutbox({ mostBytes: 100, full: 'cut' }, onEnd)
const next = async (items: AsyncGenerator<string, void>) => (await items.next()).value

test('outbox: above the limit the waiting items are dropped and the reader is cut off; items taken before stay', async () => {
  let ends = 0
  const box = limited(() => {
    ends += 1
  })
  const items = box.items()
  box.put('a', 60)
  expect(await next(items)).toBe('a')
  box.put('b', 60)
  box.put('c', 40)
  expect([ends, box.isOver()]).toEqual([0, false])
  box.put('d', 1)
  box.put('e', 1)
  box.end('later')
  expect([ends, box.isOver(), await next(items), await next(items)]).toEqual([1, true, 'cut', undefined])
})

test('outbox: a single item of any length fits, and a keep-alive is added only when no item waits', async () => {
  const box = limited()
  const items = box.items()
  box.put('long', 1_000)
  box.beat('beat 1')
  expect(await next(items)).toBe('long')
  box.beat('beat 2')
  expect(await next(items)).toBe('beat 2')
  box.put('old')
  box.replace('new')
  expect(await next(items)).toBe('new')
})

test('outbox: a closed outbox returns nothing to a waiting reader', async () => {
  const box = limited()
  const taken = next(box.items())
  box.close()
  box.put('a')
  expect(await taken).toBeUndefined()
})
