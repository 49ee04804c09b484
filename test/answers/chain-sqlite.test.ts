import { describe, setDefaultTimeout } from 'bun:test'
import { temporarySqlite } from '../support/stores/loading.ts'
import { wholeChainSuite } from './whole-chain.ts'

// Loads the whole recorded chain; a test that hangs still ends.
setDefaultTimeout(600_000)

describe('the recorded chain, loaded over HTTP into SQLite', () => {
  wholeChainSuite(temporarySqlite, {
    lists: { everySizeUpTo: 100, pagesOf20UpTo: 10_000 },
    ranges: { ofBusiest: 60, everyList: 1 },
  })
})
