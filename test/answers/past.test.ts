import { SOAK } from '../support/processes/soak.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { pastPoints } from './past-points.ts'
import { pastSums } from './past-sums.ts'

const sqlite = await loadedStore()
pastPoints({ store: () => sqlite, points: SOAK ? 100_000 : 20_000, seed: 2231 })
pastSums({ count: SOAK ? 12 : 3, every: 1 })
