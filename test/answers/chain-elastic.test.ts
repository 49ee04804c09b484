import { describe, expect, test } from 'bun:test'
import { openProxy, pass } from '../support/nodes/faulty-proxy.ts'
import { serviceOn } from '../support/processes/service.ts'
import { SOAK } from '../support/processes/soak.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom } from '../support/stores/loading.ts'
import { dataOf, field, rowsOf } from './answers.ts'
import { pastPoints } from './past-points.ts'
import { sameAnswersSuite } from './same.ts'
import { wholeChainSuite } from './whole-chain.ts'

describe.skipIf(elasticsearchUrl() === undefined)(
  'the recorded chain, loaded from an archive into partitions of 25,000 documents in Elasticsearch',
  () => {
    const load = async () => {
      const opened = openTestElastic({ leaseMs: 15_000, partitionDocuments: 25_000 })
      // The signatures of all blocks are proved when the chain is loaded into SQLite.
      await loadFrom(ARCHIVED, opened.store, { prove: 'linked' })
      return opened
    }
    const opened = wholeChainSuite(load, {
      historyStep: SOAK ? 20 : 400,
      everyOwner: SOAK ? 1 : 20,
      lists: { everySizeUpTo: 50, pagesOf20UpTo: 300, everyList: SOAK ? 1 : 120, isSampleOnly: true, smallOf: 5 },
      ranges: { ofBusiest: SOAK ? 15 : 2, everyList: SOAK ? 10 : 80 },
    })
    const store = () => opened().store
    sameAnswersSuite(store, SOAK ? { calls: 1_000, searches: 300, past: 12 } : { calls: 200, searches: 15, past: 3 })
    pastPoints({ store, points: SOAK ? 4_000 : 800, seed: 2232 })

    test('a page of a list of 18,261 rows takes one search, and a range at most four more', async () => {
      const proxy = await openProxy(opened().url, () => pass)
      const near = serviceOn(opened().reopen({ url: proxy.url }))
      // The other reads, published height and counters, are cached for a short time.
      const searches = () => proxy.asked.filter(({ path }) => path.includes('/_search')).length
      const cost = async (range: Readonly<Record<string, string>>) => {
        const before = searches()
        const data = await dataOf(near, 'account-tx', { account: 'busyhub', page: '2', ...range })
        return [searches() - before, field(data, 'total'), rowsOf(data, 'transactions').length]
      }
      const [plain = 0] = (await cost({})) as [number]
      expect(plain).toBe(1)
      expect(await cost({ start_block: '0', end_block: '4851' })).toEqual([plain, '18261', 20])
      expect(await cost({ start_block: '4852' })).toEqual([plain - 1, '0', 0])
      expect(await cost({ start_seq: '9000', end_seq: '9024' })).toEqual([plain, '25', 5])
      expect(await cost({ start_seq: '18262' })).toEqual([plain - 1, '0', 0])
      const [one] = (await cost({ start_block: '2000' })) as [number]
      const [two] = (await cost({ start_block: '2000', end_time: '2026-11-21T08:20:00Z' })) as [number]
      expect([one > plain, one <= plain + 4, two > plain, two <= plain + 4]).toEqual(new Array(4).fill(true))
      await proxy.close()
    })
  },
)
