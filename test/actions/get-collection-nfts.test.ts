import { expect, test } from 'bun:test'
import { plainItems } from '#test/support/oracle/items.ts'
import { ask } from '#test/support/stores/ask.ts'

const { items, collections } = await plainItems()

test.each([...collections])(
  'get-collection-nfts: %s is listed in both orders, in pages of 7',
  async (collection, count) => {
    const whole = Array.from({ length: count }, (_, at) => ({
      token_id: String(at),
      owner: items.get(`${collection}/${at}`)?.owner,
      metadata: items.get(`${collection}/${at}`)?.metadata,
    }))
    for (const sort of ['asc', 'desc']) {
      const ordered = sort === 'asc' ? whole : whole.toReversed()
      for (let page = 1; page <= Math.ceil(count / 7) + 1; page++) {
        const asked = { collection, sort, page: `${page}`, size: '7' }
        const { nfts, ...part } = await ask('get-collection-nfts', asked)
        expect(part).toEqual({ page, size: 7, total: count })
        const shown = nfts.map(({ token_id, owner, metadata }: Row) => ({ token_id, owner, metadata }))
        expect(shown).toEqual(ordered.slice((page - 1) * 7, page * 7))
      }
    }
  },
)

type Row = { readonly token_id: string; readonly owner: string; readonly metadata: string }
