import { describe, expect, test } from 'bun:test'
import { elasticsearchUrl, openTestElastic } from '#test/elasticsearch.ts'
import { metaShape } from './mappings.ts'

const put = async (url: string, body: object): Promise<void> => {
  const answer = await fetch(url, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(await answer.text())
}

describe.skipIf(elasticsearchUrl() === undefined)('createIndices', () => {
  test('waits for the shard of an index that another process has just created', async () => {
    const target = openTestElastic()
    const alias = `${target.prefix}-meta`
    const index = `${target.url}/${alias}-0`
    await put(`${index}?wait_for_active_shards=0`, {
      settings: { index: { ...metaShape.settings.index, 'routing.allocation.enable': 'none' } },
      mappings: metaShape.mappings,
      aliases: { [alias]: {} },
    })
    const created = target.store.create()
    expect(await Promise.race([created, Bun.sleep(1_000).then(() => 'waiting')])).toBe('waiting')
    await put(`${index}/_settings`, { 'index.routing.allocation.enable': null })
    await created
    expect(await target.store.check()).toEqual([])
    await target.destroy()
  })
})
