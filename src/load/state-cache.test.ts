import { expect, test } from 'bun:test'
import { UNKNOWN } from '#derive/working-state.ts'
import { lists } from '#indices/list.ts'
import { producerKeys } from '#indices/producer.ts'
import { stateCache, unknownKeys } from './state-cache.ts'

const key = (id: string) => ({ id, account: `of ${id}` })

test('stateCache: tells what the store lacks from what was never asked for', () => {
  const cache = stateCache(10)
  cache.set(producerKeys, '__proto__', undefined)
  cache.set(producerKeys, 'constructor', key('constructor'))
  expect(cache.get(producerKeys, '__proto__')).toBe(undefined)
  expect(cache.get(producerKeys, 'constructor')).toEqual(key('constructor'))
  expect(cache.get(producerKeys, 'toString')).toBe(UNKNOWN)
  expect(cache.get(lists, 'constructor')).toBe(UNKNOWN)
})

test('stateCache: forgets only in trim, first what was not used since the last one', () => {
  const cache = stateCache(3)
  for (const id of ['a', 'b', 'c', 'd']) cache.set(producerKeys, id, key(id))
  expect(cache.get(producerKeys, 'a')).toEqual(key('a'))
  cache.trim()
  expect(cache.get(producerKeys, 'a')).toEqual(key('a'))
  for (const id of ['e', 'f']) cache.set(producerKeys, id, key(id))
  cache.trim()
  expect(['a', 'b', 'c', 'd', 'e', 'f'].filter(id => cache.get(producerKeys, id) !== UNKNOWN)).toEqual([
    'a',
    'e',
    'f',
  ])
})

test('stateCache: a thing set anew is not shadowed by its older self', () => {
  const cache = stateCache(1)
  cache.set(producerKeys, 'a', key('a'))
  cache.trim()
  cache.set(producerKeys, 'a', { id: 'a', account: 'new' })
  expect(cache.get(producerKeys, 'a')).toEqual({ id: 'a', account: 'new' })
})

test('unknownKeys: each key once, per index', () => {
  const keys = ['x', 'y', 'x'].flatMap(id => [
    { index: producerKeys, id },
    { index: lists, id },
  ])
  expect(unknownKeys(keys, ({ index, id }) => index === lists && id === 'y')).toEqual([
    { index: producerKeys, id: 'x' },
    { index: lists, id: 'x' },
    { index: producerKeys, id: 'y' },
  ])
})

test('stateCache: what was forgotten is unknown, of whichever generation it was, and no longer counts', () => {
  const cache = stateCache(2)
  for (const id of ['a', 'b']) cache.set(producerKeys, id, key(id))
  cache.trim()
  cache.set(producerKeys, 'c', key('c'))
  // In both generations.
  cache.set(producerKeys, 'a', key('a'))
  for (const id of ['a', 'c', 'd']) cache.forget(producerKeys, id)
  expect(['a', 'b', 'c', 'd'].filter(id => cache.get(producerKeys, id) !== UNKNOWN)).toEqual(['b'])
  for (const id of ['b']) cache.forget(producerKeys, id)
  expect(cache.size).toBe(0)
})

test('stateCache: what is held stays through trims; released, it is kept only where somebody asked for it', () => {
  const cache = stateCache(2)
  cache.set(producerKeys, 'a', key('a'))
  const held = ['a', 'b', 'c'].map(id => cache.hold(producerKeys, { id, account: 'new' }))
  for (const round of ['d', 'e', 'f']) {
    for (const part of ['1', '2']) cache.set(producerKeys, round + part, undefined)
    cache.trim()
  }
  expect(cache.get(producerKeys, 'b')).toEqual({ id: 'b', account: 'new' })
  for (const each of held) cache.release(each)
  expect(['a', 'b', 'c'].map(id => cache.get(producerKeys, id))).toEqual([
    UNKNOWN,
    { id: 'b', account: 'new' },
    UNKNOWN,
  ])
})

test('stateCache: what is released by the thousand takes no memory for long, and nothing else is dropped for it', () => {
  const cache = stateCache(10)
  cache.set(producerKeys, 'kept', key('kept'))
  for (let batch = 0; batch < 100; batch++) {
    const held = Array.from({ length: 5 }, (_, at) => cache.hold(producerKeys, key(`${batch} ${at}`)))
    for (const each of held) cache.release(each)
    cache.trim()
  }
  expect(cache.get(producerKeys, 'kept')).toEqual(key('kept'))
  expect(cache.size).toBe(1)
})
