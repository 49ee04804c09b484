import { expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { producers } from '#indices/producer.ts'
import type { NamedIndex, StateChange } from '#indices/registry.ts'
import { tokens } from '#indices/token.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { batchOf, createDoc, producerDoc, tokenDoc } from './fixture.ts'
import { type Open, shareStore } from './harness.ts'

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

/** Documents found by the beginning of their names. */
export function nameCases(open: Open): void {
  const { read } = shareStore(open, async writer => {
    const listed = names.map(name => producerDoc(name, { listed: name }))
    const changes: readonly StateChange[] = [
      ...names.map(name => ({ index: accounts, doc: accountDoc(name) })),
      ...names.map(name => ({ index: tokens, doc: tokenDoc(name) })),
      ...listed.map(doc => ({ index: producers, doc })),
    ]
    await commitBatch(writer, batchOf(0, 0, { changes }))
    const left = listed.filter((_, at) => !isTabled(at))
    const unlisted = left.map(before => {
      const { listed: _, ...doc } = before
      return { index: producers, doc: { ...doc, registered: false }, before }
    })
    await commitBatch(writer, batchOf(1, 1, { changes: unlisted }))
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
