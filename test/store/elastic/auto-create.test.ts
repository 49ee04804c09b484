import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { records } from '#indices/record.ts'
import { wealth } from '#indices/wealth.ts'
import type { BatchSize } from '#store/batch.ts'
import type { Batch, StoredKey, Writer } from '#store/port.ts'
import { identity, recordDoc, tellingBatch, wealthDoc } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'

const HEIGHT = 3
const KEY: StoredKey = { id: 'a', hash: 'h', name: 'n', perSecond: 1, perDay: 1, created: 1 }

/** A batch that creates a document. A rollback deletes it. */
function withNew(height: number): Batch {
  const batch = tellingBatch(height, height)
  return { ...batch, changes: [...batch.changes, { index: wealth, doc: wealthDoc('c', 1n) }] }
}

const readNames = async (target: TestElastic): Promise<readonly string[]> =>
  Object.keys(await target.ask<object>('GET', '*?expand_wildcards=all')).toSorted()

type Case = {
  readonly name: string
  readonly removed: readonly string[]
  readonly repair?: true
  readonly chunk?: BatchSize
  readonly work: (writer: Writer) => Promise<unknown>
}

const cases: readonly Case[] = [
  {
    name: 'a batch without the indices of history and state',
    removed: ['blocks-000000', 'transactions-000000', 'records-000000', 'state-0'],
    work: writer => commitBatch(writer, withNew(HEIGHT + 2)),
  },
  {
    name: 'history ahead of its batch',
    removed: ['blocks-000000', 'transactions-000000', 'records-000000'],
    work: async writer => await writer.append(tellingBatch(HEIGHT + 2, HEIGHT + 2)),
    chunk: { documents: 1, bytes: 1 },
  },
  {
    name: 'documents that are put right',
    removed: ['state-0', 'records-000000'],
    repair: true,
    work: writer =>
      writer.rewrite({
        put: [{ index: wealth, doc: wealthDoc('d', 1n) }],
        remove: [
          { index: wealth, id: 'c' },
          { index: records, id: recordDoc(1, 0).id },
        ],
        unplace: [],
      }),
  },
  {
    name: 'a batch that is taken back, and a published height',
    removed: ['state-0', 'meta-0'],
    repair: true,
    work: writer => writer.takeBack(HEIGHT),
  },
]

/** The server creates indices with this prefix on their first write, and no others. */
const PREFIX = 'test-auto'

async function withTarget(work: (target: TestElastic) => Promise<void>): Promise<void> {
  const target = openTestElastic({ prefix: `${PREFIX}${crypto.randomUUID().slice(0, 13)}`, retryTimeoutMs: 1_000 })
  try {
    await work(target)
  } finally {
    await target.destroy()
  }
}

/** The default of Elasticsearch, which the tests' server does not have. */
describe.skipIf(elasticsearchUrl() === undefined)('a server that creates any index on its first write', () => {
  const url = elasticsearchUrl()
  const allow = (pattern: string | null) =>
    ask('PUT', `${url}/_cluster/settings`, { persistent: { 'action.auto_create_index': pattern } })
  beforeAll(async () => {
    await allow(`+${PREFIX}*`)
    const unknown = `${PREFIX}-${crypto.randomUUID()}`
    await ask('PUT', `${url}/${unknown}/_doc/1`, {})
    expect(Object.keys(await ask<object>('GET', `${url}/${unknown}`))).toEqual([unknown])
    await ask('DELETE', `${url}/${unknown}`)
  })
  afterAll(() => allow(null))

  for (const { name, removed, repair = false, chunk, work } of cases)
    test(`${name}: no index is created`, () =>
      withTarget(async target => {
        await target.store.create()
        const first = await target.store.takeOver(identity)
        for (const batch of [tellingBatch(0, HEIGHT), withNew(HEIGHT + 1)]) await commitBatch(first, batch)
        await first.release()
        const writing = target.reopen(chunk === undefined ? {} : { chunk })
        const writer = await writing.takeOver(identity, { repair })
        const before = await readNames(target)
        const lost = removed.map(index => `${target.prefix}-${index}`)
        for (const index of removed) await target.ask('DELETE', index)
        await failureOf(work(writer))
        await writer.release().catch(() => {})
        expect(await readNames(target)).toEqual(before.filter(index => !lost.includes(index)))
      }))

  test('a store that was never created, and keys of a store whose index is gone: no index is created', () =>
    withTarget(async target => {
      const { store } = target
      await failureOf(store.takeOver(identity))
      await failureOf(store.keys.add(KEY))
      expect(await store.keys.revoke('a', 1)).toBe(false)
      expect(await readNames(target)).toEqual([])
      await store.create()
      await store.keys.add(KEY)
      const before = await readNames(target)
      await target.ask('DELETE', 'keys-0')
      await failureOf(store.keys.add({ ...KEY, id: 'b' }))
      await failureOf(store.keys.revoke('a', 1))
      expect(await readNames(target)).toEqual(before.filter(index => index !== `${target.prefix}-keys-0`))
    }))
})
