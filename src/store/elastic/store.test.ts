import { describe } from 'bun:test'
import { storeSuite } from '#store/store.suite.ts'
import { elasticsearchUrl, openTestElastic } from '#test/elasticsearch.ts'

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  storeSuite('elasticsearch', async () => {
    const { store, reopen, spoil, destroy } = openTestElastic()
    return { store, reopen: async () => reopen(), spoil, destroy }
  })
})
