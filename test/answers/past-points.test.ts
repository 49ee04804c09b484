import { afterAll, beforeAll, describe, setDefaultTimeout } from 'bun:test'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { fillFromRecording, loadedStore } from '../support/stores/loaded.ts'
import { pastPoints } from './past-points.ts'

// Loads the whole recorded chain; a test that hangs still ends.
setDefaultTimeout(600_000)

const sqlite = await loadedStore()
describe('on SQLite', () => pastPoints({ store: () => sqlite, points: 100_000, seed: 2231 }))

const last = (await recordedBlocks()).length - 1
describe.skipIf(elasticsearchUrl() === undefined)('on Elasticsearch', () => {
  const opened = elasticsearchUrl() === undefined ? undefined : openTestElastic({ leaseMs: 15_000 })
  beforeAll(async () => {
    if (opened !== undefined) await fillFromRecording(opened.store, { to: last })
  })
  afterAll(() => opened?.destroy())
  pastPoints({ store: () => opened?.store ?? sqlite, points: 4_000, seed: 2232 })
})
