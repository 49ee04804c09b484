import { expect, test } from 'bun:test'
import type { WritePosition } from '#store/maintain-port.ts'
import { isAsDigested, isUntouched, withOperations } from './backup.ts'
import { type Digest, STARTS } from './digest.ts'

const WRITTEN: readonly WritePosition[] = [
  { index: 'blocks', partition: 0, operation: 9, documents: 10 },
  { index: 'blocks', partition: 1, operation: 4, documents: 5 },
  { index: 'lists', operation: 30, documents: 3 },
  { index: 'tokens', operation: -1, documents: 0 },
]
const SUM = '0'.repeat(64)
const BARE: readonly Digest[] = [
  ...WRITTEN.map(({ operation: _, ...rest }) => ({ ...rest, sum: SUM })),
  { index: STARTS, documents: 3, sum: SUM },
]
const DIGESTS = withOperations(BARE, WRITTEN)

/** `WRITTEN` with one changed entry. */
const changed = (at: number, change: Partial<WritePosition>): readonly WritePosition[] =>
  WRITTEN.map((each, n) => (n === at ? { ...each, ...change } : each))

test('isAsDigested: equal operations and documents match in any order', () => {
  expect(isAsDigested(DIGESTS, WRITTEN)).toBe(true)
  expect(isAsDigested(DIGESTS, WRITTEN.toReversed())).toBe(true)
})

test('isAsDigested: an additional operation, a missing document, or a missing or additional index does not match', () => {
  const others = [
    ...WRITTEN.flatMap(({ operation, documents }, at) => [
      changed(at, { operation: operation + 1 }),
      changed(at, { documents: documents - 1 }),
    ]),
    WRITTEN.slice(1),
    [...WRITTEN, { index: 'accounts', operation: 0, documents: 1 }],
    changed(1, { partition: 2 }),
    [],
  ]
  expect(others.map(other => isAsDigested(DIGESTS, other))).toEqual(others.map(() => false))
})

test('isAsDigested: digests without operations, as earlier versions wrote them, never match', () => {
  expect(isAsDigested(BARE, WRITTEN)).toBe(false)
})

test('isUntouched: the store is untouched until an operation is added', () => {
  expect(isUntouched(WRITTEN, WRITTEN)).toBe(true)
  expect(isUntouched(WRITTEN, changed(2, { operation: 31 }))).toBe(false)
  expect(isUntouched(WRITTEN, WRITTEN.slice(1))).toBe(false)
})
