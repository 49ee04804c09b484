import { describe } from 'bun:test'
import { storeSuite } from '#test/store/suite/suite.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'

/** A loader renews its lease at intervals of its own lease; another loader waits for as long as its lease. */
const LEASE_MS = { own: 1_500, other: 9_000 }

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  storeSuite('elasticsearch', async () => {
    const { store, reopen, spoil, destroy } = openTestElastic({ leaseMs: LEASE_MS.own })
    return { store, reopen: async () => reopen({ leaseMs: LEASE_MS.other }), spoil, destroy }
  })
})
