import { describe, expect, test } from 'bun:test'
import { blockId, recordId } from '#indices/position.ts'
import { historyIndices } from '#indices/registry.ts'
import { ask as askElastic } from '#test/support/stores/ask-elastic.ts'
import { audited, repaired } from '../support/stores/audited.ts'
import { differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom } from '../support/stores/loading.ts'

/** This height fills four partitions: the recorded chain has some 5,500 documents up to there. */
const HEIGHT = 860
const PARTITION = 1_500

describe.skipIf(elasticsearchUrl() === undefined)('audit of history in partitions', () => {
  test('audit: partitions are whole; a lost row and duplicates in wrong partitions are named and repaired, also in merged ones', async () => {
    const { store, url, prefix, destroy } = openTestElastic({ partitionDocuments: PARTITION })
    const ask = <T>(method: string, path: string, body?: object) =>
      askElastic<T>(method, `${url}/${prefix}-${path}`, body)
    const counts = () =>
      Promise.all(historyIndices.map(async ({ name }) => (await ask<{ count: number }>('GET', `${name}/_count`)).count))
    /** Copies a document unchanged into another partition. */
    const copy = async (name: string, id: string, from: string, to: string): Promise<void> => {
      const { _source } = await ask<{ _source: object }>('GET', `${name}-${from}/_doc/${id}`)
      await ask('PUT', `${name}-${to}/_doc/${id}?refresh=true`, _source)
    }
    try {
      await loadFrom(ARCHIVED, store, { to: HEIGHT, prove: 'linked' })
      const firsts = await store.partitions.firsts()
      expect(firsts.length).toBeGreaterThan(2)
      const last = String(firsts.length - 1).padStart(6, '0')
      const firstIn = async (name: string): Promise<string> => {
        const path = `${name}-${last}/_search?size=1&sort=height`
        const found = await ask<{ hits: { hits: readonly [{ _id: string }] } }>('GET', path)
        return found.hits.hits[0]._id
      }
      const [clean, before] = [await dumpElastic(url, prefix), await counts()]

      // Duplicates: from the first partition in the last, and the other way round. Then the first one becomes
      // read-only.
      const [lost, early, late] = [recordId(0, 0, 3), recordId(0, 0, 4), await firstIn('records')]
      const sent = await firstIn('transactions')
      await copy('records', early, '000000', last)
      await copy('records', late, last, '000000')
      await copy('transactions', sent, last, '000000')
      await copy('blocks', blockId(7), '000000', last)
      await ask('DELETE', `records-000000/_doc/${lost}?refresh=true`)
      await store.partitions.merge({ signal: new AbortController().signal, onProgress: () => undefined })
      const more = new Map([
        ['blocks', 1],
        ['transactions', 1],
        // Two duplicates, and one lost row.
        ['records', 1],
      ])
      expect(await counts()).toEqual(historyIndices.map(({ name }, at) => (before[at] ?? 0) + (more.get(name) ?? 0)))

      const damaged = [
        `blocks ${blockId(7)} document`,
        ...[lost, early, late].map(id => `records ${id} document`),
        `transactions ${sent} document`,
      ]
      const { found } = await repaired(store)
      expect(found.filter(line => !line.startsWith('lists '))).toEqual(damaged)
      expect(await counts()).toEqual(before)
      expect((await audited(store)).found).toEqual([])
      expect(differences(await dumpElastic(url, prefix), clean)).toEqual([])
      const [index, settings] = [`${prefix}-records-000000`, { 'index.blocks.write': 'true' }]
      const readOnly = await ask('GET', 'records-000000/_settings/index.blocks.write?flat_settings=true')
      expect<unknown>(readOnly).toEqual({ [index]: { settings } })
    } finally {
      await destroy()
    }
  })
})
