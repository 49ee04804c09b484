import { describe } from 'bun:test'
import { temporarySqlite } from '../support/stores/loading.ts'
import { wholeChainSuite } from './whole-chain.ts'

describe('the recorded chain, loaded over HTTP into SQLite', () => {
  wholeChainSuite(temporarySqlite, {
    lists: { everySizeUpTo: 100, pagesOf20UpTo: 10_000 },
    ranges: { ofBusiest: 60, everyList: 1 },
  })
})
