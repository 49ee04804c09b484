import { describe, expect, test } from 'bun:test'
import { identity, publishedAt, tellingBatch } from '#test/store/suite/fixture.ts'
import { pass } from '#test/support/nodes/faulty-proxy.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, openBehindProxy } from '#test/support/stores/elasticsearch.ts'

/** The API call of a request, without index names. */
const callOf = (method: string, path: string): string =>
  `${method} ${/_[a-z]+(?:\/checkpoint)?/.exec(path.replace(/\?.*/, ''))?.[0] ?? 'indices'}`

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  test('commit: a small batch takes eight requests, and no separate refresh', async () => {
    // The lease is longer than the test, so that no renewal is counted.
    await using place = await openBehindProxy({ leaseMs: 600_000 })
    const { target, faults, through } = place
    const sent: string[] = []
    faults.fateOf = ({ method, path }) => {
      sent.push(callOf(method, path))
      return pass
    }
    const writer = await through.takeOver(identity)
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
  })
})
