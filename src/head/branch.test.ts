import { expect, test } from 'bun:test'
import { judgeHead, selectCachedBlocks, walkDown } from './branch.ts'
import { type HeadBlock, type HeadState, selectHead, selectListRows } from './head-state.ts'

/** A block named by its branch and height: the parent of `a7` is `a6`, unless a fork begins there. */
const block = (branch: string, height: number, parent = `${branch}${height - 1}`) => ({
  ...{ height, hash: `${branch}${height}`, parentHash: parent, bytes: 10 },
})
const run = (branch: string, [from, to]: readonly [number, number], parent?: string) =>
  Array.from({ length: to - from + 1 }, (_, at) => block(branch, from + at, at === 0 ? parent : undefined))
const knownOf = (...blocks: readonly ReturnType<typeof block>[]) => new Map(blocks.map(each => [each.hash, each]))
const at = (name: string) => ({ height: Number(name.slice(1)), hash: name })
const namesOf = (blocks: Iterable<{ readonly hash: string }>) => [...blocks].map(({ hash }) => hash).join(' ')

const FORKED = [...run('a', [4, 7]), ...run('b', [6, 8], 'a5')]

test.each([
  // Only blocks on the branch of the head are returned.
  [FORKED, at('b8'), 'a4 a5 b6 b7 b8'],
  [FORKED, at('a7'), 'a4 a5 a6 a7'],
  // The first missing block is returned.
  [[block('a', 4), block('a', 7)], at('a7'), 'missing a6'],
  // A head at the published block has no blocks above it. One with another block there is separate.
  [[], at('a3'), ''],
  [[], at('b3'), 'apart'],
  [[block('b', 4)], at('b4'), 'apart'],
  // A head with a false height is separate.
  [run('a', [4, 6]), { height: 7, hash: 'a6' }, 'apart'],
  // Known blocks below the published one are included, for readers of an earlier height.
  [run('a', [1, 5]), at('a5'), 'a1 a2 a3 a4 a5'],
] as const)('walkDown: from %p to the published block a3: %#', (known, head, expected) => {
  const walk = walkDown(knownOf(...known), head, at('a3'))
  const found =
    walk.type === 'whole' ? namesOf(walk.blocks) : walk.type === 'missing' ? `missing ${walk.at.hash}` : 'apart'
  expect(found).toBe(expected)
})

test('selectCachedBlocks: the branch is kept, and the newest other blocks as far as there is room, at most 256', () => {
  const [a, b] = [run('a', [4, 6]), run('b', [4, 7], 'a3')]
  expect(namesOf(selectCachedBlocks(knownOf(...b, ...a), a, 50).values())).toBe('b6 b7 a4 a5 a6')
  expect(namesOf(selectCachedBlocks(knownOf(...b, ...a), a, 0).values())).toBe('a4 a5 a6')
  const many = knownOf(...run('b', [4, 2_000], 'a3'))
  expect(selectCachedBlocks(many, [], Number.MAX_SAFE_INTEGER).size).toBe(256)
})

test.each([
  // A higher head, or another one of equal height, is followed at once.
  [20, 0, 'follow'],
  [60, 0, 'follow'],
  // A lower head is ignored as lagging until no node has confirmed the tip for a while.
  [19, 2_999, 'stay'],
  [19, 3_000, 'follow'],
  // There is no head if the node is behind the store, or the store far behind the node.
  [9, undefined, 'behind'],
  [610, undefined, 'follow'],
  [611, undefined, 'behind'],
] as const)(
  'judgeHead: a head at %d after a tip at 20 that was confirmed %p ms ago: %s',
  (headBlock, ageMs, verdict) => {
    const tip = ageMs === undefined ? undefined : { height: 20, hash: 'a', ageMs }
    expect(judgeHead({ headBlock }, { height: 10 }, tip)).toBe(verdict)
  },
)

// Fields that these tests do not use are left out.
const headBlock = (doc: object, rows: readonly object[] = []) => ({ doc, rows }) as unknown as HeadBlock
const SHOWN: HeadState = {
  ...{ status: 'followed', tip: at('a6'), lib: 4 },
  blocks: run('a', [4, 6]).map(({ parentHash, ...doc }) => headBlock({ ...doc, parent_hash: parentHash })),
}

test.each([
  ['a3', 'followed', 6, 'a4 a5 a6'],
  ['a5', 'followed', 6, 'a6'],
  ['a6', 'followed', 6, ''],
  ['a9', 'followed', 9, ''],
  ['b5', 'apart', undefined, ''],
  // Block 3 is missing, so a row could be missing too.
  ['a2', 'apart', undefined, ''],
  // No node is followed.
  ['a3', 'away', undefined, ''],
] as const)('selectHead: the blocks above %s: %s', (...[published, status, height, names]) => {
  const found = selectHead(status === 'away' ? { status } : SHOWN, at(published))
  expect([found.status, found.height, namesOf(found.blocks.map(({ doc }) => doc))]).toEqual([status, height, names])
})

test('selectListRows: the rows of a block in a list are returned in order', () => {
  const rows = ['x', 'y', 'x'].map((list, index) => ({ doc: { index }, lists: [list, 'all'] }))
  const indicesOf = (list: string) => selectListRows(headBlock({}, rows), list).map(({ doc }) => doc.index)
  expect([indicesOf('x'), indicesOf('all'), indicesOf('__proto__')]).toEqual([[0, 2], [0, 1, 2], []])
})
