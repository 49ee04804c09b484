import { expect, test } from 'bun:test'
import { groupHolders, keysByHash } from './holder.ts'
import { createKey, nextKey } from './key.ts'

const NOW = Date.UTC(2026, 10, 21)
const plan = { perSecond: 3, perDay: 7 }

test('holders: a rotated key keeps its id, and all keys of its holder have the newest plan', () => {
  const [one, two] = [createKey('a', plan, { now: NOW, note: 'n' }), createKey('b', plan, { now: NOW })]
  const [only] = groupHolders([one.stored])
  if (only === undefined) throw new Error('There is no holder.')
  const next = nextKey(only, { now: NOW + 5 })
  expect(next.stored).toMatchObject({
    id: `${one.stored.id}.2`,
    name: 'a',
    note: 'n',
    ...plan,
    created: NOW + 5,
  })
  expect([next.key === one.key, next.stored.hash === one.stored.hash]).toEqual([false, false])
  const stored = [one.stored, two.stored, { ...next.stored, perDay: 9 }]
  expect(groupHolders(stored).map(({ id, former, created }) => [id, former.length, created])).toEqual([
    [one.stored.id, 1, NOW],
    [two.stored.id, 0, NOW],
  ])
  const keys = keysByHash(stored)
  for (const { hash } of [one.stored, next.stored])
    expect(keys.get(hash)).toMatchObject({ id: one.stored.id, perDay: 9 })
})

test('holders: the tenth key comes after the ninth', () => {
  const { stored } = createKey('a', plan, { now: NOW })
  const keys = [9, 10, 2].map(number => ({ ...stored, id: `${stored.id}.${number}` }))
  const [holder] = groupHolders([stored, ...keys])
  expect(holder?.current.id).toBe(`${stored.id}.10`)
  expect(holder?.former.map(({ id }) => id.split('.')[1])).toEqual(['9', '2', undefined])
})

test('holders: one revoked key is enough, also beside a key created at the same moment', () => {
  const { stored } = createKey('a', plan, { now: NOW })
  const keys = [
    { ...stored, revoked: 5 },
    { ...stored, id: `${stored.id}.2`, hash: 'other' },
  ]
  expect([...keysByHash(keys).values()].map(({ revoked }) => revoked)).toEqual([5, 5])
  const [holder] = groupHolders(keys)
  if (holder === undefined) throw new Error('There is no holder.')
  expect(() => nextKey(holder, { now: NOW })).toThrow('is revoked')
  const [old] = groupHolders([{ ...stored, expires: NOW - 1 }])
  if (old === undefined) throw new Error('There is no holder.')
  expect(() => nextKey(old, { now: NOW })).toThrow('expired on')
  expect(nextKey(old, { now: NOW, expires: NOW + 1 }).stored.expires).toBe(NOW + 1)
})
