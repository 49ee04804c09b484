import { recordedBlocks } from '../nodes/recording.ts'
import { readReceipts } from './receipts.ts'

type Move = { readonly height: number; readonly from: string; readonly to: string }
type Item = { readonly owner: string; readonly metadata: string; readonly moves: readonly Move[] }

/** Items of token721.iost by id, and the item count of each collection, by replaying the recorded receipts. */
export async function plainItems() {
  const items = new Map<string, Item>()
  const collections = new Map<string, number>()
  const movements: (Move & { readonly id: string; readonly hash: string })[] = []
  const blocks = (await recordedBlocks()).map(({ block }) => block)
  for (const { height, tx, name, args } of readReceipts(blocks, /^token721\.iost\/(\w+)$/)) {
    const [symbol = '', second = '', third = '', number = ''] = args
    const { hash } = tx
    const count = collections.get(symbol) ?? 0
    if (name === 'create') collections.set(symbol, 0)
    else if (name === 'issue') {
      collections.set(symbol, count + 1)
      const moves = [{ height, from: '', to: second }]
      items.set(`${symbol}/${count}`, { owner: second, metadata: third, moves })
      movements.push({ height, hash, id: `${symbol}/${count}`, from: '', to: second })
    } else if (name === 'transfer') {
      const { metadata = '', moves = [] } = items.get(`${symbol}/${number}`) ?? {}
      const move = { height, from: second, to: third }
      items.set(`${symbol}/${number}`, { owner: third, metadata, moves: [...moves, move] })
      movements.push({ ...move, hash, id: `${symbol}/${number}` })
    }
  }
  return { items, collections, movements }
}

/** The number of items an owner has in a collection, by `collection/owner`. */
export function sharesOf(items: ReadonlyMap<string, { readonly owner: string }>): ReadonlyMap<string, number> {
  const shares = Map.groupBy(items, ([id, { owner }]) => `${id.split('/')[0]}/${owner}`)
  return new Map([...shares].map(([share, { length }]) => [share, length]))
}
