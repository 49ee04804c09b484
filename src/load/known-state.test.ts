import { expect, test } from 'bun:test'
import { UNKNOWN } from '#derive/working-state.ts'
import { producerKeys } from '#indices/producer.ts'
import { knownState } from './known-state.ts'

const keyOf = (id: string) => ({ index: producerKeys, id })
const docOf = (id: string, account: string) => ({ id, account })

test('knownState: of a batch that has arrived, what was asked for on its way stays; the rest is fetched as it is now', async () => {
  const stored = new Map(['a', 'b'].map(id => [id, docOf(id, 'before')]))
  const asked: string[] = []
  const known = knownState(async keys => {
    asked.push(...keys.map(({ id }) => id))
    return keys.map(({ id }) => stored.get(id))
  })
  await known.fetch(['a', 'b', 'c'].map(keyOf))
  const changes = ['a', 'b', 'c'].map(id => ({ index: producerKeys, doc: docOf(id, 'after') }))
  known.sent(changes)
  expect(known.get(keyOf('a'))).toEqual(docOf('a', 'after'))
  for (const { doc } of changes) stored.set(doc.id, doc)
  known.arrived()
  expect(['a', 'b', 'c'].map(id => known.get(keyOf(id)))).toEqual([docOf('a', 'after'), UNKNOWN, UNKNOWN])
  await known.fetch(['a', 'b', 'c'].map(keyOf))
  expect(['a', 'b', 'c'].map(id => known.get(keyOf(id)))).toEqual(changes.map(({ doc }) => doc))
  expect(asked).toEqual(['a', 'b', 'c', 'b', 'c'])
})
