import { expect, test } from 'bun:test'
import { wealth } from '#indices/wealth.ts'
import type { WriteEvent } from '#store/elastic/client/sender.ts'
import { openElastic } from '#store/elastic/open-elastic.ts'
import { identity, tellingBatch, totalAt } from '#test/store/suite/fixture.ts'
import { type Asked, openProxy, pass } from '#test/support/nodes/faulty-proxy.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'

const isCheckpoint = ({ method, path }: Asked): boolean => method === 'PUT' && path.includes('/_doc/checkpoint')
const isBulk = ({ path }: Asked): boolean => path.startsWith('/_bulk')

test.skipIf(elasticsearchUrl() === undefined)(
  'elastic: a loader reads state while a committed batch is not applied yet, without an attempt too many',
  async () => {
    const target = openTestElastic()
    await target.store.create()
    const applied = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    let isSecond = false
    let isCommitted = false
    const proxy = await openProxy(target.url, asked => {
      isCommitted ||= isSecond && isCheckpoint(asked)
      if (!isCommitted || !isBulk(asked)) return pass
      reached.resolve()
      return { type: 'hold', until: applied.promise }
    })
    const retries: WriteEvent[] = []
    const onEvent = (event: WriteEvent): void => {
      if (event.type !== 'retry') return
      retries.push(event)
      // A read that waits for the batch must not wait forever.
      applied.resolve()
    }
    const store = openElastic({ url: proxy.url, prefix: target.prefix, onEvent })
    const writer = await store.takeOver(identity)
    await commitBatch(writer, tellingBatch(0, 0))
    isSecond = true
    const committing = commitBatch(writer, tellingBatch(1, 1))
    await reached.promise
    const read = await writer.getMany([
      { index: wealth, id: 'b' },
      { index: wealth, id: 'nobody' },
    ])
    expect([retries, read]).toEqual([[], [expect.objectContaining({ total: totalAt(0) }), undefined]])
    applied.resolve()
    await committing
    expect(await writer.getMany([{ index: wealth, id: 'b' }])).toMatchObject([{ total: totalAt(1) }])
    await writer.release()
    await store.close()
    await proxy.close()
    await target.destroy()
  },
)
