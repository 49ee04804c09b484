import { expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { blocks } from '#indices/block.ts'
import { type ListDoc, lists, toPlace } from '#indices/list.ts'
import { producers } from '#indices/producer.ts'
import type { ListedRecord, RecordDoc } from '#indices/record.ts'
import type { NamedIndex, StateChange } from '#indices/registry.ts'
import { tokens } from '#indices/token.ts'
import { transactions } from '#indices/transaction.ts'
import type { DueRange } from '#store/state-port.ts'
import { kindOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import {
  balanceDoc,
  batchOf,
  blockDoc,
  createDoc,
  hash8Of,
  MAX,
  MIN,
  producerDoc,
  recordDoc,
  tokenDoc,
  transactionDoc,
} from './fixture.ts'
import { type Open, shareStore } from './harness.ts'

/** Each block adds three rows to list 1, and one row each to list 2 and to the list with the greatest number. */
const PER_BLOCK = 3
const BLOCKS = 8
const GREATEST = 2 ** 31 - 1
const rowsOf = (height: number): readonly RecordDoc[] =>
  Array.from({ length: PER_BLOCK }, (_, at) =>
    recordDoc(height, at, {
      places: [
        ...(at === 1 ? [toPlace(GREATEST, height + 1)] : []),
        toPlace(1, height * PER_BLOCK + at + 1),
        ...(at === 2 ? [toPlace(2, height + 1)] : []),
      ],
    }),
  )
const allRows = Array.from({ length: BLOCKS }, (_, height) => rowsOf(height)).flat()
/** A row in the form of a page. */
const shown = ({ places, ...row }: RecordDoc): ListedRecord => row
const listed = allRows.map(shown)
const listDoc = (number: number, count: number): ListDoc => ({
  id: `account/list${number}`,
  number,
  count,
  starts: [[0, 1]],
})
const listsAt = (blockCount: number) =>
  [listDoc(1, blockCount * PER_BLOCK), listDoc(2, blockCount), listDoc(GREATEST, blockCount)] as const

const SHARED = -7n
const twins = [transactionDoc(2, 1), transactionDoc(2, 2), transactionDoc(7, 1)].map(doc => ({
  ...doc,
  hash8: SHARED,
}))
const edges = [transactionDoc(3, 1, { hash8: MIN }), transactionDoc(3, 2, { hash8: MAX })]
const due = [
  [MIN, 'g'],
  [0n, 'f'],
  [1n, 'd'],
  [1_800_000_000_000_000_000n, 'b'],
  [1_800_000_000_000_000_000n, 'a'],
  [1_800_000_000_000_000_001n, 'c'],
  [MAX, 'e'],
].map(([time, owner]) => balanceDoc('iost', String(owner), { next_due: BigInt(time ?? 0), frozen: 1n }))

const accountDoc = (name: string) => createDoc(accounts, name, { name })

/** Hundreds of names with the same beginning, and their neighbours in byte order. */
const names: readonly string[] = [
  ...Array.from({ length: 300 }, (_, at) => `user_${String(at).padStart(3, '0')}`),
  ...[
    'user',
    'user_',
    'userz',
    'uses',
    'use',
    'usér',
    '__proto__',
    '12345',
    'a.b',
    'a*b',
    'a%b',
    '😀😀',
    '\u{10ffff}x',
  ],
]
const isTabled = (at: number): boolean => at % 40 === 0
const tabled = names.filter((_, at) => isTabled(at))
const nameChanges: readonly StateChange[] = names.flatMap((name): readonly StateChange[] => [
  { index: accounts, doc: accountDoc(name) },
  { index: tokens, doc: tokenDoc(name) },
  { index: producers, doc: producerDoc(name, { listed: name }) },
])
const unlisted = names
  .filter((_, at) => !isTabled(at))
  .map(name => ({
    ...{ index: producers, doc: producerDoc(name, { registered: false }) },
    before: producerDoc(name, { listed: name }),
  }))

/** Documents found by position, by hash, by time, and by the beginning of their names. */
export function listCases(open: Open): void {
  const { read, ...shared } = shareStore(open, async writer => {
    for (const first of [0, 2, 5]) {
      const last = first === 0 ? 1 : first === 2 ? 4 : BLOCKS - 1
      const within = ({ height }: { readonly height: number }) => height >= first && height <= last
      const changes = [
        ...listsAt(last + 1).map(
          (doc, at) => ({ index: lists, doc, ...(first === 0 ? {} : { before: listsAt(first)[at] }) }) as StateChange,
        ),
        ...(first === 0 ? [...due, balanceDoc('iost', 'never')] : []).map(doc => ({ index: balances, doc }) as const),
        ...(first === 0 ? nameChanges : first === 2 ? unlisted : []),
      ]
      await commitBatch(
        writer,
        batchOf(first, last, {
          blocks: Array.from({ length: last - first + 1 }, (_, at) =>
            blockDoc(first + at, first + at === 6 ? { base: '{}', base_hash8: hash8Of(0) } : {}),
          ),
          transactions: [...twins, ...edges].filter(within),
          records: allRows.filter(within),
          changes,
        }),
      )
    }
  })
  const [one, two, greatest] = listsAt(BLOCKS)

  test('records: any range of ordinals is ascending, across batches, within the count of the list; adjacent lists do not overlap', async () => {
    const total = allRows.length
    for (const [first, last] of [
      [1, total],
      [1, 1],
      [total, total],
      [6, 7],
      [5, 4],
      [-3, 2],
      [total + 1, 2 ** 40],
    ] as const)
      expect(await read(view => view.records(one, first, last))).toEqual(listed.slice(Math.max(0, first - 1), last))
    expect(await read(view => view.records({ ...one, count: 4 }, 3, 9))).toEqual(listed.slice(2, 4))
    expect(await read(view => view.records(listDoc(77, 0), 1, 20))).toEqual([])
    expect(await read(view => view.records(two, 1, BLOCKS))).toEqual(listed.filter(({ index }) => index === 2))
    expect(await read(view => view.records(greatest, 3, 4))).toEqual(
      [2, 3].flatMap(height => rowsOf(height).slice(1, 2).map(shown)),
    )
  })

  test('newRecords: rows of later blocks beyond an ordinal are returned with all their list positions', async () => {
    const news = (lists: readonly (readonly [number, number])[], height: number) =>
      read(view => view.newRecords(new Map(lists), height))
    expect(await news([[1, 6 * PER_BLOCK]], 5)).toEqual(allRows.slice(6 * PER_BLOCK))
    expect(await news([[1, 0]], -1)).toEqual([...allRows])
    expect(await news([[1, 7 * PER_BLOCK + 1]], 5)).toEqual(allRows.slice(7 * PER_BLOCK + 1))
    expect(await news([[1, 0]], 6)).toEqual(rowsOf(7))
    const several = [2, GREATEST].map(number => [number, 4] as const)
    expect(await news([...several, [77, 0]], 3)).toEqual([4, 5, 6, 7].flatMap(height => rowsOf(height).slice(1, 3)))
    expect(await news([[2, BLOCKS]], 3)).toEqual([])
    expect(await news([[77, 0]], 3)).toEqual([])
    expect(await news([], 3)).toEqual([])
  })

  test('moments: height and time of any rows of a list are in the order of ordinals; a missing row is damage, not an answer', async () => {
    const moments = (list: ListDoc, ordinals: readonly number[]) => read(view => view.moments(list, ordinals))
    const all = allRows.map(({ height, time }) => ({ height, time }))
    for (const ordinals of [allRows.map((_, at) => at + 1), [1], [24], [3, 4], [1, 6, 7, 8, 24]])
      expect<unknown>(await moments(one, ordinals)).toEqual(ordinals.map(ordinal => all[ordinal - 1]))
    expect<unknown>(await moments(two, [2, 8])).toEqual([all[3], all[21]])
    expect<unknown>(await moments(greatest, [1, 3])).toEqual([all[0], all[6]])
    expect(await kindOf(moments(one, [1, allRows.length + 1]))).toBe('damaged')
    expect(await kindOf(moments(two, [0]))).toBe('damaged')
  })

  test('blockTimes: times of blocks are in the requested order; a missing block is damage', async () => {
    const times = (heights: readonly number[]) => read(view => view.blockTimes(heights))
    expect(await times([6, 0])).toEqual([blockDoc(6).time, blockDoc(0).time])
    expect(await times([])).toEqual([])
    expect(await kindOf(times([0, 1_000]))).toBe('damaged')
  })

  test('find, findAny: all documents with one of the values are in order of id; a transaction hash is not a base hash', async () => {
    const find = (value: bigint) => read(view => view.find(transactions, 'hash8', value))
    expect([await find(SHARED), await find(MIN), await find(MAX)]).toEqual([twins, edges.slice(0, 1), edges.slice(1)])
    expect(await find(MAX - 1n)).toEqual([])
    const [own, base] = [blockDoc(0), blockDoc(6, { base: '{}', base_hash8: hash8Of(0) })]
    expect(await read(view => view.find(blocks, 'hash8', hash8Of(0)))).toEqual([own])
    expect(await read(view => view.find(blocks, 'base_hash8', hash8Of(0)))).toEqual([base])
    expect(await read(view => view.find(blocks, 'base_hash8', hash8Of(6)))).toEqual([])
    const findAny = (values: readonly bigint[]) => read(view => view.findAny(transactions, 'hash8', values))
    const all = [...twins, ...edges].toSorted((a, b) => (a.id < b.id ? -1 : 1))
    expect(await findAny([MAX, MAX - 1n, SHARED, MIN])).toEqual(all)
    expect(await findAny([])).toEqual([])
    expect(await read(view => view.findAny(blocks, 'hash8', [hash8Of(2), hash8Of(0)]))).toEqual([own, blockDoc(2)])
  })

  test('due: balances after one time and up to another are ordered by time and id, exact to the nanosecond', async () => {
    const state = await shared.writer().openState()
    const owners = (range: DueRange) => state.due(range).map(({ owner }) => owner)
    const T = 1_800_000_000_000_000_000n
    expect<unknown>(state.due({ until: T, limit: 10 })).toEqual(
      ['g', 'f', 'd', 'a', 'b'].map(owner => due.find(doc => doc.owner === owner)),
    )
    expect(owners({ after: 0n, until: T - 1n, limit: 10 })).toEqual(['d'])
    expect(owners({ after: 1n, until: T, limit: 10 })).toEqual(['a', 'b'])
    expect(owners({ after: T, until: T + 1n, limit: 10 })).toEqual(['c'])
    expect(owners({ after: T + 1n, until: MAX, limit: 10 })).toEqual(['e'])
    expect(owners({ after: MAX, until: MAX, limit: 10 })).toEqual([])
    expect(owners({ after: 0n, until: MAX, limit: 2 })).toEqual(['d', 'a'])
    expect(owners({ until: 0n, limit: 10 })).toEqual(['g', 'f'])
    expect(owners({ after: MIN, until: -1n, limit: 10 })).toEqual([])
  })

  const found = (index: NamedIndex, text: string, limit: number) =>
    read(async view => (await view.startingWith(index, text, limit)).map(({ id }) => id))
  const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
  const expected = (all: readonly string[], text: string, limit: number) =>
    all
      .filter(name => name.startsWith(text))
      .toSorted(byBytes)
      .slice(0, limit)

  test('startingWith: the first names with a prefix are in byte order, and no character is a wildcard', async () => {
    const texts = [
      'u',
      'use',
      'user',
      'user_',
      'user_2',
      'user_299',
      'user_299x',
      'usé',
      '_',
      '__proto__',
      '1',
      'a',
      'a.',
    ]
    const odd = ['a*', 'a%', '%', '*', '.', '?', '"', "'", '\\', ' ', '😀', '\u{10ffff}', 'U', 'z', 'x'.repeat(3_000)]
    for (const text of [...texts, ...odd])
      for (const limit of [1, 10, 1_000])
        for (const index of [accounts, tokens])
          expect([text, await found(index, text, limit)]).toEqual([text, expected(names, text, limit)])
    const docs = await read(view => view.startingWith(accounts, 'user_29', 3))
    expect(docs).toEqual(['user_290', 'user_291', 'user_292'].map(accountDoc))
  })

  test('startingWith: a document that lost its name is not found, whatever the number of earlier ones', async () => {
    for (const text of ['u', 'user', 'user_', 'user_2', 'use', '12345'])
      for (const limit of [1, 3, 10, 1_000])
        expect([text, limit, await found(producers, text, limit)]).toEqual([text, limit, expected(tabled, text, limit)])
  })
}
