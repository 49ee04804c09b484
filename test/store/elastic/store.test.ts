import { describe } from 'bun:test'
import { storeSuite } from '#test/store/suite/suite.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'

/** So long that no live loader is regarded as dead, however busy the machine. */
const LEASE_MS = 5_000

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  storeSuite('elasticsearch', async () => {
    const { store, reopen, spoil, destroy } = openTestElastic({ leaseMs: LEASE_MS })
    return { store, reopen: async () => reopen(), spoil, destroy }
  })
})
