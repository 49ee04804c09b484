import { expect, test } from 'bun:test'
import { UNKNOWN } from '#derive/working-state.ts'
import { lists } from '#indices/list.ts'
import { producerKeys } from '#indices/producer.ts'
import { type VoteDoc, votes } from '#indices/vote.ts'
import { knownState, stateCache, unknownKeys } from './known-state.ts'

const keyOf = (id: string) => ({ index: producerKeys, id })
const docOf = (id: string, account: string) => ({ id, account })

test('knownState: a stored batch is known until the next trim, and documents requested meanwhile stay', async () => {
  const stored = new Map(['a', 'b'].map(id => [id, docOf(id, 'before')]))
  const asked: string[] = []
  const known = knownState({
    getMany: async keys => {
      asked.push(...keys.map(({ id }) => id))
      return keys.map(({ id }) => stored.get(id))
    },
    members: async () => [],
  })
  await known.fetch(['a', 'b', 'c'].map(keyOf))
  const changes = ['a', 'b', 'c'].map(id => ({ index: producerKeys, doc: docOf(id, 'after') }))
  known.sent(changes)
  expect(known.get(producerKeys, 'a')).toEqual(docOf('a', 'after'))
  for (const { doc } of changes) stored.set(doc.id, doc)
  known.arrived()
  // The run being derived may need this document, which was fetched before the batch was cut.
  expect(known.get(producerKeys, 'b')).toEqual(docOf('b', 'after'))
  known.trim()
  expect(['a', 'b', 'c'].map(id => known.get(producerKeys, id))).toEqual([
    docOf('a', 'after'),
    docOf('b', 'after'),
    UNKNOWN,
  ])
  await known.fetch(['a', 'b', 'c'].map(keyOf))
  expect(['a', 'b', 'c'].map(id => known.get(producerKeys, id))).toEqual(changes.map(({ doc }) => doc))
  expect(asked).toEqual(['a', 'b', 'c', 'c'])
})

test('knownState: documents changed by two batches stay while either is being stored', async () => {
  const known = knownState({ getMany: async keys => keys.map(() => undefined), members: async () => [] })
  const changed = (account: string) => [{ index: producerKeys, doc: docOf('a', account) }]
  known.sent(changed('first'))
  known.arrived()
  known.sent(changed('second'))
  known.trim()
  expect(known.get(producerKeys, 'a')).toEqual(docOf('a', 'second'))
})

const vote = (voter: string, amount: bigint, producer = 'bob0000'): VoteDoc => ({
  id: `${producer}/${voter}`,
  producer,
  voter,
  votes: amount,
})
const RANGE = { index: votes, order: 'voters', group: 'bob0000', after: { amount: 9n, name: 'm' } }

test('knownState: members are those of the store, corrected by the batch that was being stored at the request', async () => {
  const flying: readonly VoteDoc[] = [
    vote('stays', 5n),
    vote('gone', 0n),
    vote('climbed', 10n),
    vote('ahead', 9n),
    vote('came', 8n),
    vote('elsewhere', 4n, 'carol00'),
  ]
  const known = knownState({
    getMany: async () => [],
    members: async () => {
      // The batch arrives, and is dropped, while the store is read in its earlier state.
      known.arrived()
      return [vote('gone', 3n), vote('climbed', 2n), vote('stays', 6n), vote('still', 1n)]
    },
  })
  known.sent(flying.map(doc => ({ index: votes, doc })))
  expect(known.members(RANGE)).toBe(UNKNOWN)
  await known.fetchMembers([RANGE])
  expect(known.members({ ...RANGE, group: 'carol00' })).toBe(UNKNOWN)
  expect(known.members({ ...RANGE, after: { amount: 8n, name: 'm' } })).toBe(UNKNOWN)
  const found = known.members({ ...RANGE })
  expect(found === UNKNOWN ? found : [...found]).toEqual([vote('stays', 5n), vote('still', 1n), vote('came', 8n)])
  known.forgetMembers()
  expect(known.members(RANGE)).toBe(UNKNOWN)
})

const key = (id: string) => ({ id, account: `of ${id}` })

test('stateCache: a document that the store lacks differs from one that was never requested', () => {
  const cache = stateCache(10)
  cache.set(producerKeys, '__proto__', undefined)
  cache.set(producerKeys, 'constructor', key('constructor'))
  expect(cache.get(producerKeys, '__proto__')).toBe(undefined)
  expect(cache.get(producerKeys, 'constructor')).toEqual(key('constructor'))
  expect(cache.get(producerKeys, 'toString')).toBe(UNKNOWN)
  expect(cache.get(lists, 'constructor')).toBe(UNKNOWN)
})

test('stateCache: entries are dropped only in trim, first those unused since the last trim', () => {
  const cache = stateCache(3)
  for (const id of ['a', 'b', 'c', 'd']) cache.set(producerKeys, id, key(id))
  expect(cache.get(producerKeys, 'a')).toEqual(key('a'))
  cache.trim()
  expect(cache.get(producerKeys, 'a')).toEqual(key('a'))
  for (const id of ['e', 'f']) cache.set(producerKeys, id, key(id))
  cache.trim()
  expect(['a', 'b', 'c', 'd', 'e', 'f'].filter(id => cache.get(producerKeys, id) !== UNKNOWN)).toEqual(['a', 'e', 'f'])
})

test('stateCache: a replaced entry is not hidden by its older version', () => {
  const cache = stateCache(1)
  cache.set(producerKeys, 'a', key('a'))
  cache.trim()
  cache.set(producerKeys, 'a', { id: 'a', account: 'new' })
  expect(cache.get(producerKeys, 'a')).toEqual({ id: 'a', account: 'new' })
})

test('unknownKeys: each key is returned once per index', () => {
  const keys = ['x', 'y', 'x'].flatMap(id => [
    { index: producerKeys, id },
    { index: lists, id },
  ])
  const cache = stateCache(10)
  cache.set(lists, 'y', undefined)
  expect(unknownKeys(keys, cache)).toEqual([
    { index: producerKeys, id: 'x' },
    { index: lists, id: 'x' },
    { index: producerKeys, id: 'y' },
  ])
})

test('stateCache: held entries stay through trims, and released ones only if they were requested', () => {
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

test('stateCache: thousands of released entries soon free their memory, and no other entry is dropped for them', () => {
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
