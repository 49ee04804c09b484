import { describe } from 'bun:test'
import { storeSuite } from '#test/store/suite/suite.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'

/** How often a loader gives signs of life follows from its own lease, how long one is waited for from that of who looks at it. */
const LEASE_MS = { own: 5_000, other: 30_000 }

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  storeSuite('elasticsearch', async () => {
    const { store, reopen, spoil, destroy } = openTestElastic({ leaseMs: LEASE_MS.own })
    return { store, reopen: async () => reopen({ leaseMs: LEASE_MS.other }), spoil, destroy }
  })
})
