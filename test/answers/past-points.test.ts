import { setDefaultTimeout } from 'bun:test'
import { loadedStore } from '../support/stores/loaded.ts'
import { pastPoints } from './past-points.ts'

// A hundred thousand points; a test that hangs still ends.
setDefaultTimeout(600_000)

const sqlite = await loadedStore()
pastPoints({ store: () => sqlite, points: 100_000, seed: 2231 })
