import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { lists } from '#indices/list.ts'
import { wealth } from '#indices/wealth.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { namesOf } from '../schema/names.ts'
import { applyItems, type Entry, entriesOf, journalParts, partItems, readPart } from './journal.ts'

const names = namesOf('p')

test('entriesOf: each change is a text with the height of its batch', () => {
  const doc = { id: 'a', owner: 'a', total: 2n ** 63n - 1n, token: 0n, vote: 0n, frozen: 0n }
  expect(entriesOf([{ index: wealth, doc }], 7)).toEqual([
    {
      index: wealth,
      id: 'a',
      source:
        '{"kind":"wealth","group":"","member":"a","value":"9223372036854775807","token":"0","vote":"0","frozen":"0","at":7}',
    },
  ])
})

test('journal: entries are read back in order at any division into parts', () => {
  const entry = fc.record({
    index: fc.constantFrom(wealth, lists),
    id: fc.string({ unit: 'binary' }),
    source: fc.dictionary(fc.string(), fc.string({ unit: 'binary' })).map(value => JSON.stringify(value)),
  })
  fc.assert(
    fc.property(fc.array(entry), fc.integer({ min: 1, max: 500 }), (entries, maxBytes) => {
      const parts = [...journalParts(entries, maxBytes)]
      expect(parts.flatMap(readPart)).toEqual(entries)
      for (const part of parts) expect(part.split('\n').length === 2 || Buffer.byteLength(part) <= maxBytes).toBe(true)
    }),
  )
})

test('journalParts: without changes there are no parts', () => {
  expect([...journalParts([])]).toEqual([])
})

test('readPart: an index unknown to this version is a defect', async () => {
  const refused = await failureOf(Promise.resolve('gone\t"x"\t{}\n').then(readPart))
  expect([refused.kind, refused.message]).toEqual(['defect', "The journal names an unknown index 'gone'."])
})

test('partItems, applyItems: parts have the name of the batch, state documents the version of its height', () => {
  const entries: readonly Entry[] = [{ index: wealth, id: 'a', source: '{"at":0}' }]
  expect(
    [...partItems(names, 'b', journalParts(entries))].map(({ id, source }) => [id, JSON.parse(source ?? '')]),
  ).toEqual([['b-0', { batch: 'b', part: 0, body: 'wealth\t"a"\t{"at":0}\n' }]])
  expect([...applyItems(names, entries, 0)].map(({ lines }) => JSON.parse(lines.split('\n')[0] ?? ''))).toEqual([
    {
      index: { _index: 'p-state', _id: 'wealth/a', version: 1, version_type: 'external_gte' },
    },
  ])
})
