import type { Plan } from './cycle-plan.ts'
import { ADMIN, CREATORS, FOUNDER, HUB } from './names.ts'
import { addAction, emptyTx, type Tx } from './transaction.ts'

/** Collections of token721.iost that exist before the cycles. The hub issues their NFTs. */
export const COLLECTIONS = ['cards', 'art_2'] as const
type Collection = (typeof COLLECTIONS)[number]

export const collectionOf = ({ coin }: Pick<Plan, 'coin'>): Collection => COLLECTIONS[coin ? 0 : 1]

const GAS = 1_234_567
const MOST_NFTS = 1_000_000_000_000
/** The owners of the first NFTs of each collection, which are issued before other accounts exist. */
const FIRST_OWNERS = [FOUNDER, HUB, ADMIN, ...CREATORS]

/** Counts the NFTs that the first half of a cycle issues. The chain numbers NFTs in the order of their issue. */
export function nftPlan(read: (j: number) => Plan, half: number) {
  const numbers = new Map<number, number>()
  const counts = new Map<Collection, number>()
  for (let j = 0; j < half; j += 1) {
    const plan = read(j)
    if (plan.kind !== 'nft') continue
    const collection = collectionOf(plan)
    const count = counts.get(collection) ?? 0
    numbers.set(j, count)
    counts.set(collection, count + 1)
  }
  return {
    /** The id of an NFT by the cycle and the number of the issuing transaction in the first half. */
    idOf: (collection: Collection, cycle: number, j: number): string =>
      String(FIRST_OWNERS.length + cycle * (counts.get(collection) ?? 0) + (numbers.get(j) ?? 0)),
  }
}

/** Metadata of different kinds: JSON, addresses, words, and an empty text. */
const METADATA: readonly ((id: string) => string)[] = [
  id => `{"name":"No. ${id}","image":"ipfs://bafy/${id}.png","hp":${id.length}}`,
  id => `https://art.example/${id}?a=1&b=2`,
  id => `第 ${id} 号 <b>"收藏"</b>`,
  () => '',
]

/** A successful action `token721.iost/issue`. */
export function issueNft(tx: Tx, collection: Collection, to: string, id: string): void {
  const metadata = METADATA[Number(id) % METADATA.length]?.(id) ?? ''
  const data = JSON.stringify([collection, to, metadata])
  addAction(tx, 'token721.iost/issue', data, ['', to], `["${id}"]`)
  tx.receipts.push({ funcName: 'token721.iost/issue', content: data })
}

/** `own`: the transfer is an action of its own. Otherwise a contract makes it, and it has no row. */
export function giveNft(
  tx: Tx,
  { collection, id }: { readonly collection: Collection; readonly id: string },
  [from, to]: readonly [string, string],
  own: boolean,
): void {
  const content = JSON.stringify([collection, from, to, id])
  if (own) addAction(tx, 'token721.iost/transfer', content, [from, to])
  tx.receipts.push({ funcName: 'token721.iost/transfer', content })
}

/** The transaction that creates a collection, issues its first NFTs and transfers one. */
export function collectionTx(collection: Collection): Tx {
  const tx = emptyTx(HUB, GAS)
  const data = JSON.stringify([collection, HUB, MOST_NFTS])
  addAction(tx, 'token721.iost/create', data, [HUB, 'token721.iost'])
  tx.receipts.push({ funcName: 'token721.iost/create', content: data })
  for (const [number, owner] of FIRST_OWNERS.entries()) issueNft(tx, collection, owner, String(number))
  giveNft(tx, { collection, id: '0' }, [FOUNDER, HUB], true)
  return tx
}
