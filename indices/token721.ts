import { type DocOf, defineIndex } from './define.ts'
import { int, keyword, long, packed, sortedInt, sortedLong, text, word } from './fields.ts'

/** Collections of token721.iost. Id: the symbol. */
export const collections = defineIndex({
  name: 'collections',
  kind: 'state',
  orders: {
    /** All of them: one of which nothing was issued comes last. */
    byIssued: {
      by: [
        ['issued', 'desc'],
        ['symbol', 'asc'],
      ],
      counted: true,
    },
  },
  fields: {
    symbol: keyword(),
    issuer: text(),
    /** Most items that there can be. */
    total_supply: long(),
    /** Items so far; the next one gets this number as its id. */
    issued: sortedInt(),
    /** Owners of an item. */
    holder_count: int(),
    height: int(),
    time: long(),
    tx_hash: text(),
  },
})
export type CollectionDoc = DocOf<typeof collections>

/** Items of collections. Id: `itemId`. */
export const items = defineIndex({
  name: 'items',
  kind: 'state',
  fields: {
    owner: word(),
    metadata: packed(),
    /** Where it was issued. */
    height: int(),
    time: long(),
    tx_hash: text(),
  },
})
export type ItemDoc = DocOf<typeof items>

/**
 * Who has which items: members of groups. `ownersOf` names the group of all owners of a collection, each with how many it
 * has; `itemsOf` that of all items of an owner in it, each with its number and 1 as the amount. Who has it no more has 0.
 */
export const holdings = defineIndex({
  name: 'holdings',
  kind: 'state',
  orders: {
    members: {
      group: 'group',
      positive: ['amount'],
      by: [
        ['amount', 'desc'],
        ['member', 'asc'],
      ],
      counted: true,
    },
    /** Of the groups of owners: the collections that an owner has something of. */
    ofOwner: { group: 'owner', positive: ['amount'], by: [['symbol', 'asc']] },
  },
  fields: {
    group: keyword(),
    /** The owner, or the id of the item. */
    member: keyword(),
    amount: sortedLong(),
    /** Of a group of owners: the owner again, and the collection. `""` in groups of items. */
    owner: keyword(),
    symbol: keyword(),
  },
})
export type HoldingDoc = DocOf<typeof holdings>

export const itemId = (symbol: string, item: string): string => `${symbol}/${item}`

/** The group of the owners of a collection. */
export const ownersOf = (symbol: string): string => `owners/${symbol}`
/** The group of the items that an owner has of a collection. */
export const itemsOf = (symbol: string, owner: string): string => `items/${symbol}/${owner}`

/** What a group is of: an owner's items of a collection, or its owners. */
export const groupOf = (group: string): { readonly symbol: string; readonly owner: string | undefined } => {
  const [kind = '', symbol = '', ...owner] = group.split('/')
  return { symbol, owner: kind === 'items' ? owner.join('/') : undefined }
}
