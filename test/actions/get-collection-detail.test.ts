import { expect, test } from 'bun:test'
import { plainItems } from '#test/support/oracle/items.ts'
import { refusal } from '#test/support/refusal.ts'
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

test('get-collection-detail: a collection that does not exist is named in the error', async () => {
  expect(await refusal(ask('get-collection-detail', { collection: 'nosuch' }))).toMatchObject({
    kind: 'not_found',
    en: expect.stringContaining("Collection 'nosuch' does not exist"),
  })
})
