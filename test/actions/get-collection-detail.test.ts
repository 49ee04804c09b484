import { expect, test } from 'bun:test'
import { plainItems } from '#test/support/oracle/items.ts'
import { ask } from '#test/support/stores/ask.ts'

test('get-collection-detail: every collection matches get-collection-list', async () => {
  const { collections } = await plainItems()
  const { collections: listed } = await ask('get-collection-list')
  expect(listed.length).toBe(collections.size)
  for (const row of listed) {
    expect(await ask('get-collection-detail', { collection: row.collection })).toEqual(row)
    expect(row.issued).toBe(collections.get(row.collection))
  }
})
