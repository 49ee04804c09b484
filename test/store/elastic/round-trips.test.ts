import { describe, expect, test } from 'bun:test'
import { openElastic } from '#store/elastic/open-elastic.ts'
import { identity, publishedAt, tellingBatch } from '#test/store/suite/fixture.ts'
import { openProxy, pass } from '#test/support/nodes/faulty-proxy.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'
import { openTestState } from '#test/support/stores/test-state.ts'

/** The API call of a request, without index names. */
const callOf = (method: string, path: string): string =>
  `${method} ${/_[a-z]+(?:\/checkpoint)?/.exec(path.replace(/\?.*/, ''))?.[0] ?? 'indices'}`

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  test('commit: a small batch takes eight requests, and no separate refresh', async () => {
    const target = openTestElastic()
    const sent: string[] = []
    const proxy = await openProxy(target.url, ({ method, path }) => {
      sent.push(callOf(method, path))
      return pass
    })
    // Longer than the test, so that no renewal of the lease is counted.
    const store = openElastic({
      url: proxy.url,
      prefix: target.prefix,
      openStateFile: of => openTestState(target.prefix, of),
      leaseMs: 600_000,
    })
    try {
      await store.create()
      const writer = await store.takeOver(identity)
      await commitBatch(writer, tellingBatch(0, 0))
      sent.length = 0
      await commitBatch(writer, tellingBatch(1, 1))
      expect(await target.store.published()).toEqual(publishedAt(1))
      expect(sent.toSorted()).toEqual([
        'GET indices',
        'GET indices',
        'POST _bulk',
        'POST _bulk',
        'POST _bulk',
        'POST _msearch',
        'POST _msearch',
        'PUT _doc/checkpoint',
      ])
      await writer.release()
    } finally {
      await store.close()
      await proxy.close()
      await target.destroy()
    }
  })
})
