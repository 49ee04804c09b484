import { describe } from 'bun:test'
import { SOAK } from '../support/processes/soak.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { wholeChainSuite } from './whole-chain.ts'

describe('the recorded chain, loaded over HTTP into SQLite', () => {
  wholeChainSuite(temporarySqlite, {
    historyStep: SOAK ? 1 : 10,
    lists: { everySizeUpTo: 100, pagesOf20UpTo: 10_000, everyList: SOAK ? 1 : 8 },
    ranges: { ofBusiest: SOAK ? 60 : 12, everyList: SOAK ? 1 : 8 },
  })
})
