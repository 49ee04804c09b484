import type { Kind, Plan } from './cycle-plan.ts'
import { CREATORS } from './genesis.ts'
import { ADMIN, FOUNDER, HUB } from './names.ts'
import { emptyTx, type Tx } from './transaction.ts'

/** Collections of token721.iost that the dawn makes; the hub issues their NFTs. */
export const COLLECTIONS = ['cards', 'art_2'] as const
export type Collection = (typeof COLLECTIONS)[number]

export const collectionOf = ({ coin }: Pick<Plan, 'coin'>): Collection => COLLECTIONS[coin ? 0 : 1]

const GAS = 1_234_567
const MOST_NFTS = 1_000_000_000_000
/** Who has the first NFTs of each collection, before there are accounts. */
const FIRST_OWNERS = [FOUNDER, HUB, ADMIN, ...CREATORS]

/** Which NFT a transaction of a cycle is about, and how many NFTs of each collection a cycle issues. */
export type NftPlan = {
  /** The id, by the cycle and the number of the transaction that issues it in the first half. */
  idOf(collection: Collection, cycle: number, j: number): string
}

/** Counts what the first half of a cycle issues: the chain numbers NFTs in the order of their issue. */
export const nftPlan = (
  read: (j: number) => { readonly kind: Kind; readonly coin: boolean },
  half: number,
): NftPlan => {
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
    idOf: (collection, cycle, j) =>
      String(FIRST_OWNERS.length + cycle * (counts.get(collection) ?? 0) + (numbers.get(j) ?? 0)),
  }
}

/** What issuers write: JSON, addresses, words, and nothing. */
const METADATA: readonly ((id: string) => string)[] = [
  id => `{"name":"No. ${id}","image":"ipfs://bafy/${id}.png","hp":${id.length}}`,
  id => `https://art.example/${id}?a=1&b=2`,
  id => `第 ${id} 号 <b>"收藏"</b>`,
  () => '',
]

/** An action `token721.iost/issue` that went well. */
export const issueNft = (tx: Tx, collection: Collection, to: string, id: string): void => {
  const metadata = METADATA[Number(id) % METADATA.length]?.(id) ?? ''
  const data = JSON.stringify([collection, to, metadata])
  tx.actions.push({ contract: 'token721.iost', name: 'issue', data, from: '', to })
  tx.returns.push(`["${id}"]`)
  tx.receipts.push({ name: 'token721.iost/issue', content: data })
  tx.effects.push({ kind: 'nft', collection, from: '', to })
}

/** `own`: an action of its own name; else a contract does it, which makes no row. */
export const giveNft = (
  tx: Tx,
  { collection, id }: { readonly collection: Collection; readonly id: string },
  [from, to]: readonly [string, string],
  own: boolean,
): void => {
  const content = JSON.stringify([collection, from, to, id])
  if (own) {
    tx.actions.push({ contract: 'token721.iost', name: 'transfer', data: content, from, to })
    tx.returns.push('[]')
  }
  tx.receipts.push({ name: 'token721.iost/transfer', content })
  tx.effects.push({ kind: 'nft', collection, from, to })
}

/** The dawn's transaction that makes a collection, issues its first NFTs and gives one away. */
export const collectionTx = (collection: Collection): Tx => {
  const tx = emptyTx(HUB, GAS)
  const data = JSON.stringify([collection, HUB, MOST_NFTS])
  tx.actions.push({ contract: 'token721.iost', name: 'create', data, from: HUB, to: 'token721.iost' })
  tx.returns.push('[]')
  tx.receipts.push({ name: 'token721.iost/create', content: data })
  for (const [number, owner] of FIRST_OWNERS.entries()) issueNft(tx, collection, owner, String(number))
  giveNft(tx, { collection, id: '0' }, [FOUNDER, HUB], true)
  return tx
}
