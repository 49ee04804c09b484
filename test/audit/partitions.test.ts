import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { blockId, recordId } from '#indices/position.ts'
import { historyIndices } from '#indices/registry.ts'
import { ask as askElastic } from '#test/support/stores/ask-elastic.ts'
import { audited, repaired } from '../support/stores/audited.ts'
import { differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../support/stores/loading.ts'

// Loads part of the recorded chain; a test that hangs still ends.
setDefaultTimeout(300_000)

/** Several partitions: the recorded chain has some 5,000 documents up to there. */
const HEIGHT = 900
const PARTITION = 1_000

describe.skipIf(elasticsearchUrl() === undefined)('audit of history in partitions', () => {
  test('audit: partitions are whole; a row lost in a merged one comes back, and it is read-only again', async () => {
    const { store, url, prefix, destroy } = openTestElastic({ partitionDocuments: PARTITION })
    const node = await replayed(HEIGHT)
    try {
      await loadFrom(node.url, store)
      expect((await store.partitions.firsts()).length).toBeGreaterThan(2)
      expect((await audited(store)).found).toEqual([])
      const clean = await dumpElastic(url, prefix)

      const lost = recordId(0, 0, 3)
      const index = `${prefix}-records-000000`
      const gone = await fetch(`${url}/${index}/_doc/${lost}?refresh=true`, { method: 'DELETE' })
      expect(gone.status).toBe(200)
      await store.partitions.merge({ signal: new AbortController().signal, onProgress: () => undefined })
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

  test('audit: twins in a partition they do not belong to are named and removed, also from a merged one', async () => {
    const { store, url, prefix, destroy } = openTestElastic({ partitionDocuments: PARTITION })
    const node = await replayed(HEIGHT)
    const ask = <T>(method: string, path: string, body?: object) =>
      askElastic<T>(method, `${url}/${prefix}-${path}`, body)
    const counts = () =>
      Promise.all(
        historyIndices.map(async ({ name }) => (await ask<{ count: number }>('GET', `${name}/_count`)).count),
      )
    /** Puts a document as it is into another partition as well. */
    const copy = async (name: string, id: string, from: string, to: string): Promise<void> => {
      const { _source } = await ask<{ _source: object }>('GET', `${name}-${from}/_doc/${id}`)
      await ask('PUT', `${name}-${to}/_doc/${id}?refresh=true`, _source)
    }
    const merge = () =>
      store.partitions.merge({ signal: new AbortController().signal, onProgress: () => undefined })
    try {
      await loadFrom(node.url, store)
      const firsts = await store.partitions.firsts()
      const last = String(firsts.length - 1).padStart(6, '0')
      const firstIn = async (name: string): Promise<string> => {
        const path = `${name}-${last}/_search?size=1&sort=height`
        const found = await ask<{ hits: { hits: readonly [{ _id: string }] } }>('GET', path)
        return found.hits.hits[0]._id
      }
      const [clean, before] = [await dumpElastic(url, prefix), await counts()]

      // Of the first partition in the last one, and the other way round; then the first one takes no writes.
      const [early, late] = [recordId(0, 0, 3), await firstIn('records')]
      const sent = await firstIn('transactions')
      await copy('records', early, '000000', last)
      await copy('records', late, last, '000000')
      await copy('transactions', sent, last, '000000')
      await copy('blocks', blockId(7), '000000', last)
      await merge()
      expect(await counts()).toEqual(before.map((count, at) => count + (at === 2 ? 2 : 1)))

      const twins = [
        `blocks ${blockId(7)} document`,
        `records ${early} document`,
        `records ${late} document`,
        `transactions ${sent} document`,
      ]
      const found = (await audited(store)).found
      expect(found.filter(line => !line.startsWith('lists '))).toEqual(twins)
      expect((await repaired(store)).found).toEqual(found)
      expect(await counts()).toEqual(before)
      expect((await audited(store)).found).toEqual([])
      expect(differences(await dumpElastic(url, prefix), clean)).toEqual([])
    } finally {
      await node.stop()
      await destroy()
    }
  })
})
