import { expect, test } from 'bun:test'
import { plainItems } from '#test/support/oracle/items.ts'
import { ask } from '#test/support/stores/ask.ts'

test('get-collection-list: lists all collections, most NFTs first, in pages of every size', async () => {
  const { collections: plain } = await plainItems()
  const whole = [...plain].toSorted(([, a], [, b]) => b - a)
  expect(whole.length).toBe(2)
  for (let size = 1; size <= 3; size++)
    for (let page = 1; page <= 3; page++) {
      const { collections, ...part } = await ask('get-collection-list', { page: `${page}`, size: `${size}` })
      expect(part).toEqual({ page, size, total: 2 })
      const shown = collections.map((row: Row) => [row.collection, row.issued])
      expect(shown).toEqual(whole.slice((page - 1) * size, page * size))
    }
})

type Row = { readonly collection: string; readonly issued: number }
