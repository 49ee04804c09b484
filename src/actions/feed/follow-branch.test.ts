import { expect, test } from 'bun:test'
import { type ChainState, followBranch, type HeadLines } from './follow-branch.ts'
import { createHeadPosition, formatFeedId, type HeadPosition, readId, trimHeadPosition } from './head-position.ts'
import { toMark } from './mark.ts'

/** Short names serve as hashes: `aX` is a block of branch a. */
const block = (hash: string, height: number, rows = 1): HeadLines => ({
  height,
  hash,
  lines: Array.from({ length: rows }, (_, at) => `${hash}.${at + 1}`),
})
const A = [block('aE', 5), block('aF', 6, 2), block('aH', 8)] as const
const B = [block('aE', 5), block('bF', 6), block('bG', 7)] as const

/** Position of a reader with all rows up to the last of these blocks, and the first `rows` rows of that one. */
function on(blocks: readonly HeadLines[], rows?: number, isWhole = true): HeadPosition {
  const { height, hash, lines } = blocks.at(-1) as HeadLines
  const below = blocks.slice(0, -1).map(each => ({ height: each.height, mark: toMark(each.hash) }))
  return createHeadPosition({ base: 5, height, hash, rows: rows ?? lines.length, below, isWhole })
}

const known = (over: Partial<ChainState>): ChainState => ({
  height: 4,
  storedHash: () => undefined,
  now: [],
  ...over,
})
const stored =
  (blocks: readonly HeadLines[]): ChainState['storedHash'] =>
  height =>
    blocks.find(each => each.height === height)?.hash ?? 'bX'
function told(place: HeadPosition | undefined, over: Partial<ChainState>, heights: readonly number[] = []) {
  const { droppedFrom, kept, packed, place: end } = followBranch(place, heights, known(over))
  return [droppedFrom, shown(kept), packed.map(({ line }) => line), shown(end)]
}
const shown = (place: HeadPosition | undefined) =>
  place && [...place.below.map(({ mark }) => mark), place.hash, place.rows].join(' ')

test('followBranch: a reader with no rows gets all, a reader with some gets the rest, also within a block', () => {
  const all = ['aE.1', 'aF.1', 'aF.2', 'aH.1']
  expect(told(undefined, { now: A })).toEqual([undefined, undefined, all, 'aE aF aH 1'])
  const rest = ['aF.2', 'aH.1']
  expect(told(on(A.slice(0, 2), 1), { now: A })).toEqual([undefined, 'aE aF 1', rest, 'aE aF aH 1'])
  expect(told(on(A), { now: A })).toEqual([undefined, 'aE aF aH 1', [], 'aE aF aH 1'])
})

test('followBranch: a change of branch drops the rows of the old branch, and none at or below the fork', () => {
  expect(told(on(A), { now: B })).toEqual([6, 'aE 1', ['bF.1', 'bG.1'], 'aE bF bG 1'])
  // The branch has fewer rows of this block than the position counts, so they were not rows of this list.
  expect(told(on(A.slice(0, 2), 3), { now: A })[0]).toBe(6)
})

test('followBranch: a position without the names of all its blocks is dropped whole, unless a block that it names is on the branch', () => {
  expect(told(on([A[2]], 1, false), { now: B })).toEqual([5, undefined, ['aE.1', 'bF.1', 'bG.1'], 'aE bF bG 1'])
  expect(told(on([A[0], A[2]], 1, false), { now: B })[0]).toBe(8)
  expect(told(on([A[2]], 1, false), { now: A })[0]).toBeUndefined()
})

test('followBranch: irreversible rows stay and ids omit their blocks; rows of replaced blocks are dropped', () => {
  const now = [block('aH', 8)]
  expect(told(on(A.slice(0, 2)), { height: 6, storedHash: stored(A), now }, [5, 6, 6])).toEqual([
    undefined,
    'aE aF 2',
    ['aH.1'],
    'aH 1',
  ])
  expect(told(on(A), { height: 6, storedHash: stored(B), now: undefined }, [5, 6])).toEqual([6, 'aE 0', [], undefined])
})

test('followBranch: while the branch is unknown no row is sent, and rows that nothing contradicts stay', () => {
  expect(told(undefined, { now: undefined })).toEqual([undefined, undefined, [], undefined])
  expect(told(on(A), { now: undefined })).toEqual([undefined, 'aE aF aH 1', [], 'aE aF aH 1'])
  const at5 = { height: 5, storedHash: stored(A), now: undefined }
  expect(told(on(A), at5, [5])).toEqual([undefined, 'aE aF aH 1', [], 'aF aH 1'])
})

test('followBranch: an irreversible row between the rows of a reader shows that the higher ones are on another branch', () => {
  const at7 = { height: 7, storedHash: stored([A[0], A[1]]), now: undefined }
  // Block 7 of the branch of A has no row.
  expect(told(on(A), at7, [7])).toEqual([8, 'aE aF 0', [], undefined])
  expect(told(on(A), at7, [5, 6, 6])[0]).toBeUndefined()
  // The reader has all rows below the base; it may request one of them again.
  expect(told(on(A), { now: undefined }, [4])[0]).toBeUndefined()
  const unnamed = on([A[2]], 1, false)
  expect(told(unnamed, { height: 6, now: undefined }, [6])[0]).toBe(5)
  expect(told(unnamed, { height: 6, now: undefined }, [4])[0]).toBeUndefined()
})

test('ids: an id that was written is read back, and any other text is refused', () => {
  const hash = (letter: string) => letter.repeat(44)
  const marked = (height: number, letter: string) => ({ height, mark: letter.repeat(8) })
  const top = { base: 5, height: 1_000, hash: hash('H'), rows: 2 }
  const near = [marked(8, '1'), marked(998, '2'), marked(999, 'z')]
  const trail = {
    at: { height: 300, hash: 'AAAAAAAA' },
    landmarks: [
      { height: 44, hash: 'CCCCCCCC' },
      { height: 284, hash: 'BBBBBBBB' },
    ],
    text: '@300.AAAAAAAABBBBBBBBCCCCCCCC',
  }
  for (const below of [[], near])
    for (const isWhole of [true, false]) {
      const place = createHeadPosition({ ...top, below, isWhole })
      expect(readId(formatFeedId(17, place))).toEqual({ seq: 17n, place, trail: undefined })
      expect(readId(formatFeedId(17, place, trail.text))).toEqual({ seq: 17n, place, trail })
    }
  expect(readId(formatFeedId(0, undefined))).toEqual({ seq: 0n, place: undefined, trail: undefined })
  expect(readId(formatFeedId(3, undefined, trail.text))).toEqual({ seq: 3n, place: undefined, trail })
  // The format of older services, which named only the highest block.
  expect(readId(`1-5-1000-2-${hash('H')}`)?.place).toEqual(createHeadPosition({ ...top, below: [], isWhole: false }))
  for (const text of ['', '-1', '01', '1-', '1-5-8-2', '1-5-8-2-', '1-5-8-2-0O', '1-5-8--aH', '1 ', '٣'])
    expect([text, readId(text)]).toEqual([text, undefined])
  for (const end of ['-1234567', '-1234567890', '-0.12345678', '-12345.12345678', '~.12345678', '--'])
    expect([end, readId(`1-5-8-2-aH${end}`)]).toEqual([end, undefined])
})

test('ids: an id has a maximum length, and is complete again once the blocks it names are irreversible', () => {
  const below = Array.from({ length: 600 }, (_, at) => ({ height: 100 + at, mark: 'abcdefgh' }))
  const long = createHeadPosition({ base: 100, height: 700, hash: 'H'.repeat(44), rows: 1, below, isWhole: true })
  expect([long.isWhole, long.below.length, long.below.at(-1)?.height]).toEqual([false, 128, 699])
  expect(long.text.length).toBeLessThan(1_200)
  expect(trimHeadPosition(long, 200)?.isWhole).toBe(false)
  const later = trimHeadPosition(long, 680)
  expect([later?.isWhole, later?.base, later?.below.length]).toEqual([true, 681, 19])
  expect(trimHeadPosition(long, 700)).toBeUndefined()
  const far = createHeadPosition({
    ...long,
    below: [{ height: 100, mark: 'abcdefgh' }],
    height: 20_000,
    isWhole: true,
  })
  expect([far.isWhole, far.below]).toEqual([false, []])
})
