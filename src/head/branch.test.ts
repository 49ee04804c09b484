import { expect, test } from 'bun:test'
import { chooseHead, selectCachedBlocks, walkDown } from './branch.ts'

/** A block named by its branch and height: the parent of `a7` is `a6`, unless a fork begins there. */
const block = (branch: string, height: number, parent = `${branch}${height - 1}`) => ({
  height,
  hash: `${branch}${height}`,
  parentHash: parent,
  bytes: 10,
})
const run = (branch: string, [from, to]: readonly [number, number], parent?: string) =>
  Array.from({ length: to - from + 1 }, (_, at) => block(branch, from + at, at === 0 ? parent : undefined))
const knownOf = (...blocks: readonly ReturnType<typeof block>[]) => new Map(blocks.map(each => [each.hash, each]))
const namesOf = (blocks: readonly { readonly hash: string }[]) => blocks.map(({ hash }) => hash)

const PUBLISHED = { height: 3, hash: 'a3' }

test('walkDown: only blocks on the branch of the head are returned', () => {
  const known = knownOf(...run('a', [4, 7]), ...run('b', [6, 8], 'a5'))
  const walk = walkDown(known, { height: 8, hash: 'b8' }, PUBLISHED)
  expect(walk.type === 'whole' && namesOf(walk.blocks)).toEqual(['a4', 'a5', 'b6', 'b7', 'b8'])
  const back = walkDown(known, { height: 7, hash: 'a7' }, PUBLISHED)
  expect(back.type === 'whole' && namesOf(back.blocks)).toEqual(['a4', 'a5', 'a6', 'a7'])
})
test('walkDown: the first missing block is returned by its hash', () => {
  const known = knownOf(block('a', 4), block('a', 7))
  expect(walkDown(known, { height: 7, hash: 'a7' }, PUBLISHED)).toEqual({
    type: 'missing',
    at: { height: 6, hash: 'a6' },
  })
})
test('walkDown: a head at the published block has no blocks above it; a head with another block there is separate', () => {
  expect(walkDown(knownOf(), PUBLISHED, PUBLISHED)).toEqual({ type: 'whole', blocks: [] })
  expect(walkDown(knownOf(), { height: 3, hash: 'b3' }, PUBLISHED)).toEqual({ type: 'apart' })
  expect(walkDown(knownOf(block('b', 4)), { height: 4, hash: 'b4' }, PUBLISHED)).toEqual({ type: 'apart' })
})
test('walkDown: a head with a false height is separate', () => {
  expect(walkDown(knownOf(...run('a', [4, 6])), { height: 7, hash: 'a6' }, PUBLISHED)).toEqual({
    type: 'apart',
  })
})
test('walkDown: known blocks below the published one are included, for readers of an earlier height', () => {
  const walk = walkDown(knownOf(...run('a', [1, 5])), { height: 5, hash: 'a5' }, PUBLISHED)
  expect(walk.type === 'whole' && namesOf(walk.blocks)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
})
test('kept blocks: the branch is kept, and the newest other blocks as far as there is room', () => {
  const [a, b] = [run('a', [4, 6]), run('b', [4, 7], 'a3')]
  expect(namesOf([...selectCachedBlocks(knownOf(...b, ...a), a, 50).values()])).toEqual(['b6', 'b7', 'a4', 'a5', 'a6'])
  expect(namesOf([...selectCachedBlocks(knownOf(...b, ...a), a, 0).values()])).toEqual(['a4', 'a5', 'a6'])
})
test('kept blocks: the number of other blocks is limited, too', () => {
  const many = run('b', [4, 2_000], 'a3')
  expect(selectCachedBlocks(knownOf(...many), [], Number.MAX_SAFE_INTEGER).size).toBe(256)
})

const said = (headBlock: number, headHash = 'x') => ({ headBlock, headHash })

test('choice of the head: a higher head, or another one of equal height, is followed at once', () => {
  const tip = { height: 20, hash: 'a', ageMs: 0 }
  for (const height of [20, 21, 60])
    expect(chooseHead(said(height), { height: 10 }, tip)).toEqual({
      type: 'follow',
      head: { height, hash: 'x' },
    })
})
test('choice of the head: a lower head is ignored as lagging until no node has confirmed the tip for a while', () => {
  expect(chooseHead(said(19), { height: 10 }, { height: 20, hash: 'a', ageMs: 2_999 })).toEqual({
    type: 'stay',
  })
  expect(chooseHead(said(19), { height: 10 }, { height: 20, hash: 'a', ageMs: 3_000 })).toEqual({
    type: 'follow',
    head: { height: 19, hash: 'x' },
  })
})
test('choice of the head: there is no head if the node is behind the store, or the store far behind the node', () => {
  expect(chooseHead(said(9), { height: 10 }, undefined)).toEqual({ type: 'behind' })
  expect(chooseHead(said(610), { height: 10 }, undefined).type).toBe('follow')
  expect(chooseHead(said(611), { height: 10 }, undefined)).toEqual({ type: 'behind' })
})
