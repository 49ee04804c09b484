import { loadedStore } from '../support/stores/loaded.ts'
import { pastPoints } from './past-points.ts'

const sqlite = await loadedStore()
pastPoints({ store: () => sqlite, points: 100_000, seed: 2231 })
