import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { recordId } from '#indices/position.ts'
import { audited, repaired } from './audited.ts'
import { differences, dumpElastic } from './dump.ts'
import { elasticsearchUrl, openTestElastic } from './elasticsearch.ts'
import { loadFrom, replayed } from './loading.ts'

// Loads part of the recorded chain; a test that hangs still ends.
setDefaultTimeout(600_000)

/** Several partitions: the recorded chain has some 5,000 documents up to there. */
const HEIGHT = 900
const PARTITION = 1_000

describe.skipIf(elasticsearchUrl() === undefined)('audit of history in partitions', () => {
  test('audit: partitions are whole; what is lost in a merged one comes back, and it is read-only again', async () => {
    const { store, url, prefix, destroy } = openTestElastic({ partitionDocuments: PARTITION })
    const node = await replayed(HEIGHT)
    try {
      await loadFrom(node.url, store)
      expect((await store.partitions()).length).toBeGreaterThan(2)
      expect((await audited(store)).found).toEqual([])
      const clean = await dumpElastic(url, prefix)

      const lost = recordId(0, 0, 3)
      const index = `${prefix}-records-000000`
      const gone = await fetch(`${url}/${index}/_doc/${lost}?refresh=true`, { method: 'DELETE' })
      expect(gone.status).toBe(200)
      await store.merge({ signal: new AbortController().signal, onProgress: () => undefined })
      expect((await repaired(store)).found).toContain(`records ${lost} document`)
      expect((await audited(store)).found).toEqual([])
      expect(differences(await dumpElastic(url, prefix), clean)).toEqual([])
      const settings = await (
        await fetch(`${url}/${index}/_settings/index.blocks.write?flat_settings=true`)
      ).json()
      expect(settings).toEqual({ [index]: { settings: { 'index.blocks.write': 'true' } } })
    } finally {
      await node.stop()
      await destroy()
    }
  })
})
