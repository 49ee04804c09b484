import { expect, test } from 'bun:test'
import { idOf, type Place, placeOf, readId } from './place.ts'
import { type Above, type BlockLines, settle } from './settle.ts'

/** Hashes are names here: `aX` is a block of branch a. */
const block = (hash: string, height: number, rows = 1): BlockLines => ({
  height,
  hash,
  lines: Array.from({ length: rows }, (_, at) => `${hash}.${at + 1}`),
})
const A = [block('aE', 5), block('aF', 6, 2), block('aH', 8)] as const
const B = [block('aE', 5), block('bF', 6), block('bG', 7)] as const
const at = (hash: string, height: number, rows = 1): Place => placeOf({ base: 5, height, hash, rows })

const aboveOf = (over: Partial<Above>): Above => ({
  height: 4,
  storedHash: () => undefined,
  held: [],
  now: [],
  ...over,
})
const told = (place: Place | undefined, above: Above) => {
  const { droppedFrom, kept, packed, place: end } = settle(place, above)
  return [droppedFrom, kept?.text ?? '', packed.map(({ line }) => line), end?.text ?? '']
}

test('settle: who has nothing gets all, who has a part gets the rest, also within a block', () => {
  const all = ['aE.1', 'aF.1', 'aF.2', 'aH.1']
  expect(told(undefined, aboveOf({ now: A }))).toEqual([undefined, '', all, '-5-8-1-aH'])
  expect(told(at('aF', 6), aboveOf({ now: A }))).toEqual([
    undefined,
    '-5-6-1-aF',
    ['aF.2', 'aH.1'],
    '-5-8-1-aH',
  ])
  expect(told(at('aH', 8), aboveOf({ now: A }))).toEqual([undefined, '-5-8-1-aH', [], '-5-8-1-aH'])
})
test('settle: another branch drops what is not on it, as far as the blocks below are known', () => {
  const both = ['bF.1', 'bG.1']
  expect(told(at('aH', 8), aboveOf({ held: A, now: B }))).toEqual([6, '-5-5-1-aE', both, '-5-7-1-bG'])
  expect(told(at('aH', 8), aboveOf({ now: B }))).toEqual([5, '', ['aE.1', ...both], '-5-7-1-bG'])
  // A row of a block that is on the branch with fewer rows is none of this list's.
  expect(told(at('aF', 6, 3), aboveOf({ now: A }))[0]).toBe(5)
})
test('settle: what became irreversible stays, and ids forget it; what another block replaced is dropped', () => {
  const now = [block('aH', 8)]
  const storedHash = (height: number) => ['aE', 'aF'][height - 5]
  expect(told(at('aF', 6, 2), aboveOf({ height: 6, storedHash, held: A, now }))).toEqual([
    undefined,
    '-5-6-2-aF',
    ['aH.1'],
    '-8-8-1-aH',
  ])
  expect(told(at('bG', 7), aboveOf({ height: 6, storedHash, held: B, now: undefined }))).toEqual([
    6,
    '-5-5-1-aE',
    [],
    '',
  ])
})
test('settle: while the branch is not known nothing comes, and nothing goes', () => {
  expect(told(undefined, aboveOf({ now: undefined }))).toEqual([undefined, '', [], ''])
  expect(told(at('bG', 7), aboveOf({ held: A, now: undefined }))).toEqual([
    undefined,
    '-5-7-1-bG',
    [],
    '-5-7-1-bG',
  ])
})
test('ids: what is written is read, and nothing else', () => {
  const place = at('aH', 8, 2)
  expect(readId(idOf(17, place))).toEqual({ seq: 17n, place })
  expect(readId(idOf(0, undefined))).toEqual({ seq: 0n, place: undefined })
  for (const text of ['', '-1', '01', '1-', '1-5-8-2', '1-5-8-2-', '1-5-8-2-0O', '1-5-8--aH', '1 ', '٣'])
    expect([text, readId(text)]).toEqual([text, undefined])
})
