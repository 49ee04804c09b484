import { describe } from 'bun:test'
import { SOAK } from '../support/processes/soak.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { pastPoints } from './past-points.ts'
import { wholeChainSuite } from './whole-chain.ts'

const sqlite = await loadedStore()

describe('the recorded chain, loaded over HTTP into SQLite', () => {
  wholeChainSuite(async () => ({ store: sqlite, destroy: async () => {} }), {
    historyStep: SOAK ? 1 : 20,
    lists: { everySizeUpTo: 100, pagesOf20UpTo: SOAK ? 10_000 : 2_000, everyList: SOAK ? 1 : 16 },
    ranges: { ofBusiest: SOAK ? 60 : 10, everyList: SOAK ? 1 : 16 },
  })
  pastPoints({ store: () => sqlite, points: SOAK ? 100_000 : 10_000, seed: 2231 })
})
