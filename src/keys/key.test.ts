import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { createKey, KEY_PATTERN } from './key.ts'

const plan = { perSecond: 3, perDay: 7 }

test('createKey: name, plan, time and hash are stored, never the key', () => {
  const { key, stored } = createKey('wallet 猫', plan, { now: 1_000 })
  expect(key).toMatch(KEY_PATTERN)
  expect(stored).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{10}$/),
    hash: createHash('sha256').update(key).digest('hex'),
    name: 'wallet 猫',
    perSecond: 3,
    perDay: 7,
    created: 1_000,
  })
  expect(createKey('a', plan, { now: 1, expires: 2 }).stored.expires).toBe(2)
})

test('createKey: a thousand keys are different and use every character', () => {
  const keys = Array.from({ length: 1_000 }, () => createKey('a', plan, { now: 1 }))
  expect(new Set(keys.map(({ key }) => key)).size).toBe(1_000)
  expect(new Set(keys.map(({ stored }) => stored.id)).size).toBe(1_000)
  expect(new Set(keys.flatMap(({ key }) => [...key.slice(3)])).size).toBe(62)
})

test.each<readonly [string, Parameters<typeof createKey>]>([
  ['an empty name', ['', plan, { now: 1 }]],
  ['spaces around the name', [' a', plan, { now: 1 }]],
  ['a line break in the name', ['a\nb', plan, { now: 1 }]],
  ['too long a name', ['a'.repeat(101), plan, { now: 1 }]],
  ['no request per second', ['a', { perSecond: 0, perDay: 1 }, { now: 1 }]],
  ['half a request per day', ['a', { perSecond: 1, perDay: 0.5 }, { now: 1 }]],
  ['NaN', ['a', { perSecond: Number.NaN, perDay: 1 }, { now: 1 }]],
  ['expiry now', ['a', plan, { now: 1, expires: 1 }]],
])('createKey: refuses %s', (_, given) => {
  expect(() => createKey(...given)).toThrow(expect.objectContaining({ kind: 'usage' }))
})
