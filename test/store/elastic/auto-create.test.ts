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

const namesOf = async ({ url, prefix }: TestElastic): Promise<readonly string[]> =>
  Object.keys(await ask<object>('GET', `${url}/${prefix}-*?expand_wildcards=all`)).toSorted()

type Case = {
  readonly name: string
  readonly removed: readonly string[]
  readonly repair?: true
  readonly chunk?: BatchSize
  readonly work: (writer: Writer, target: TestElastic) => Promise<unknown>
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
    name: 'a checkpoint',
    removed: ['meta-0'],
    work: writer => commitBatch(writer, withNew(HEIGHT + 2)),
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
    name: 'a batch that is taken back',
    removed: ['state-0'],
    repair: true,
    work: writer => writer.takeBack(HEIGHT),
  },
  {
    name: 'a published height',
    removed: ['meta-0'],
    repair: true,
    work: writer => writer.takeBack(HEIGHT),
  },
]

/** The server creates indices with this prefix on their first write, and no others. */
const PREFIX = 'test-auto'

const openTarget = (): TestElastic =>
  openTestElastic({ prefix: `${PREFIX}${crypto.randomUUID().slice(0, 13)}`, retryTimeoutMs: 1_000 })

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
    test(`${name}: no index is created`, async () => {
      const target = openTarget()
      try {
        await target.store.create()
        const first = await target.store.takeOver(identity)
        await commitBatch(first, tellingBatch(0, HEIGHT))
        await commitBatch(first, withNew(HEIGHT + 1))
        await first.release()
        const writing = target.reopen(chunk === undefined ? {} : { chunk })
        const writer = await writing.takeOver(identity, { repair })
        const before = await namesOf(target)
        const lost = removed.map(index => `${target.prefix}-${index}`)
        await ask('DELETE', `${target.url}/${lost.join(',')}`)
        await failureOf(work(writer, target))
        await writer.release().catch(() => {})
        expect(await namesOf(target)).toEqual(before.filter(index => !lost.includes(index)))
      } finally {
        await target.destroy()
      }
    })

  test('a store that was never created, and keys of a store whose index is gone: no index is created', async () => {
    const target = openTarget()
    try {
      const { store } = target
      await failureOf(store.takeOver(identity))
      await failureOf(store.keys.add(KEY))
      expect(await store.keys.revoke('a', 1)).toBe(false)
      expect(await namesOf(target)).toEqual([])
      await store.create()
      await store.keys.add(KEY)
      const before = await namesOf(target)
      const keys = `${target.prefix}-keys-0`
      await ask('DELETE', `${target.url}/${keys}`)
      await failureOf(store.keys.add({ ...KEY, id: 'b' }))
      await failureOf(store.keys.revoke('a', 1))
      expect(await namesOf(target)).toEqual(before.filter(index => index !== keys))
    } finally {
      await target.destroy()
    }
  })
})
