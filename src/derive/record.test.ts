import { expect, test } from 'bun:test'
import { type ListDoc, toPlace } from '#indices/list.ts'
import { createListCounts } from './record.ts'
import type { State } from './state.ts'

/** Derives blocks from rows that move tokens, each in its partition; returns the lists' documents after the last. */
function listsAfter(...blocks: readonly (readonly [partition: number, tokens: readonly string[]])[]) {
  const docs = new Map<string, ListDoc>()
  const state = {
    get: (_, id) => docs.get(id),
    put: (_, doc) => {
      const was = docs.get(doc.id)
      docs.set(doc.id, doc as unknown as ListDoc)
      return was as never
    },
    add: () => undefined,
    members: () => [],
    publisherOf: () => undefined,
  } as State
  const figures = { list_count: 0 }
  const places = blocks.map(([partition, tokens]) => {
    const counts = createListCounts(state, figures, partition)
    const placed = tokens.map(token => counts.next('token', token))
    counts.settle()
    return placed
  })
  return { docs: [...docs.values()], places }
}

test('createListCounts: starts contain the first ordinal in each partition with rows, from the one in which the list begins, and ordinals continue', () => {
  const { docs, places } = listsAfter([0, ['a', 'a', 'b']], [0, ['a']], [1, ['a', 'a']], [3, ['b', 'a', 'late']])
  expect(docs.map(({ id, number, count, starts }) => [id, number, count, starts.join(' ')])).toEqual([
    ['token/a', 1, 6, '0,1 1,4 3,6'],
    ['token/b', 2, 2, '0,1 3,2'],
    ['token/late', 3, 1, '3,1'],
  ])
  expect(places.at(-1)).toEqual([toPlace(2, 2), toPlace(1, 6), toPlace(3, 1)])
})
