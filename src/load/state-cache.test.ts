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
