import { describe } from 'bun:test'
import { SOAK } from '../support/processes/soak.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { wholeChainSuite } from './whole-chain.ts'

describe('the recorded chain, loaded over HTTP into SQLite', () => {
  wholeChainSuite(async () => ({ store: await loadedStore(), destroy: async () => {} }), {
    historyStep: SOAK ? 1 : 10,
    isWhole: true,
    lists: { everySizeUpTo: 100, pagesOf20UpTo: 10_000, everyList: SOAK ? 1 : 8 },
    ranges: { ofBusiest: SOAK ? 60 : 12, everyList: SOAK ? 1 : 8 },
  })
})
