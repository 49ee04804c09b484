import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { Failure } from '#failure/failure.ts'
import { createKey, KEY_PATTERN } from './key.ts'
import { hashOfKey } from './keyring.ts'

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

const refused: readonly (readonly [string, () => unknown])[] = [
  ['empty name', () => createKey('', plan, { now: 1 })],
  ['spaces around the name', () => createKey(' a', plan, { now: 1 })],
  ['line break in the name', () => createKey('a\nb', plan, { now: 1 })],
  ['too long a name', () => createKey('a'.repeat(101), plan, { now: 1 })],
  ['no request per second', () => createKey('a', { perSecond: 0, perDay: 1 }, { now: 1 })],
  ['half a request per day', () => createKey('a', { perSecond: 1, perDay: 0.5 }, { now: 1 })],
  ['NaN', () => createKey('a', { perSecond: Number.NaN, perDay: 1 }, { now: 1 })],
  ['expiry now', () => createKey('a', plan, { now: 1, expires: 1 })],
]
for (const [name, call] of refused)
  test(`createKey: refuses ${name}`, () => {
    expect(call).toThrow(Failure)
    expect(call).toThrow(expect.objectContaining({ kind: 'usage' }))
  })

test('hashOfKey: the hash is SHA-256 of the text', () => {
  expect(hashOfKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
