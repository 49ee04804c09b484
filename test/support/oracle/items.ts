import { recordedBlocks } from '../nodes/recording.ts'

type Move = { readonly height: number; readonly from: string; readonly to: string }
type TransactionPlace = { readonly height: number; readonly hash: string }
type Item = { readonly owner: string; readonly metadata: string; readonly moves: readonly Move[] }

/** Items of token721.iost by id, and the item count of each collection, by replaying the recorded receipts. */
export async function plainItems() {
  const items = new Map<string, Item>()
  const collections = new Map<string, number>()
  const movements: (Move & { readonly id: string; readonly hash: string })[] = []
  const apply = ({ height, hash }: TransactionPlace, name: string, args: readonly string[]): void => {
    const [symbol = '', second = '', third = '', number = ''] = args
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
  for (const { block } of await recordedBlocks())
    for (const { receipt, hash } of block.transactions) {
      if (receipt.statusCode !== 'SUCCESS') continue
      for (const { funcName, content } of receipt.receipts) {
        const [contract, name = ''] = funcName.split('/')
        if (contract === 'token721.iost') apply({ height: block.height, hash }, name, JSON.parse(content) as string[])
      }
    }
  return { items, collections, movements }
}

/** The number of items an owner has in a collection, by `collection/owner`. */
export function sharesOf(items: ReadonlyMap<string, { readonly owner: string }>): ReadonlyMap<string, number> {
  const shares = new Map<string, number>()
  for (const [id, { owner }] of items) {
    const share = `${id.split('/')[0]}/${owner}`
    shares.set(share, (shares.get(share) ?? 0) + 1)
  }
  return shares
}
