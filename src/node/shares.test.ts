import { expect, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { parseEndpoint } from './endpoint.ts'
import { createNodePool } from './pool.ts'
import { createShares } from './shares.ts'

function sharesOf(names: readonly string[], most: number) {
  const clock = handClock()
  const pool = createNodePool(
    names.map(name => parseEndpoint(`http://${name}`)),
    clock,
  )
  const shares = createShares(pool, clock.elapsed, most)
  const nameOf = (member: (typeof pool.members)[number] | undefined) => member?.endpoint.name.slice(7)
  const named = (name: string) => {
    const member = pool.members.find(each => nameOf(each) === name)
    if (member === undefined) throw new Error(name)
    return member
  }
  const taken = (times: number): string => Array.from({ length: times }, () => nameOf(shares.take(9)) ?? '-').join(' ')
  return { pool, shares, named, taken }
}

test('take: nodes take turns as long as they have places', () => {
  const { shares, named, taken } = sharesOf(['a', 'b'], 2)
  expect(taken(5)).toBe('a b a b -')
  shares.noteArrival(named('b'), true)
  expect(taken(2)).toBe('b -')
})

test('take: a node that lacks the block, rests, is silent or of another chain gets no range', () => {
  const { pool, named, taken } = sharesOf(['a', 'b', 'c', 'd'], 3)
  for (const member of pool.members) member.lib = 9
  named('a').lib = 8
  named('b').foreign = 'chain 7'
  pool.noteFailure(named('c'))
  expect(taken(4)).toBe('d d d -')
})

test('take: if no node is known to have the block, each may be asked', () => {
  expect(sharesOf(['a', 'b'], 1).taken(3)).toBe('a b -')
  const { pool, taken } = sharesOf(['a'], 2)
  for (const member of pool.members) pool.noteFailure(member)
  expect(taken(3)).toBe('a a -')
})

test('wasLate: a late node has half of its places, at least one, and then skips ranges, more each time', () => {
  const { shares, named, taken } = sharesOf(['a', 'b'], 4)
  const late = named('b')
  const rangesWithoutB = (): number => {
    for (let ranges = 0; ; ranges += 1) {
      const member = shares.take(9)
      if (member === undefined) throw new Error('No place is free.')
      if (member === late) return ranges
      shares.noteArrival(member, true)
    }
  }
  expect(taken(4)).toBe('a b a b')
  shares.noteArrival(named('a'), true)
  shares.noteArrival(named('a'), true)
  shares.noteLate(late)
  // Both places of node b are taken.
  expect(taken(4)).toBe('a a a a')
  for (let times = 0; times < 4; times += 1) shares.noteArrival(named('a'), true)
  shares.freePlace(late)
  shares.freePlace(late)
  shares.noteLate(late)
  expect(taken(3)).toBe('b a a')
  for (let times = 0; times < 2; times += 1) shares.noteArrival(named('a'), true)
  const sitting: number[] = []
  for (let times = 0; times < 3; times += 1) {
    shares.noteLate(late)
    shares.freePlace(late)
    sitting.push(rangesWithoutB())
  }
  expect(sitting).toEqual([8, 16, 32])
  // A node that keeps up gets more places again and sits out no more.
  shares.noteArrival(late, true)
  expect(rangesWithoutB()).toBe(1)
})
