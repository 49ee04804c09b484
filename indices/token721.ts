import { countedOrder, type DocOf, defineIndex, int, keyword, long, packed, sortedInt, text, word } from './define.ts'
import { memberId } from './standing.ts'

/** Collections of NFTs, which token721.iost calls tokens. Id: the symbol. */
export const collections = defineIndex({
  name: 'collections',
  kind: 'state',
  orders: { byIssued: countedOrder(['issued', 'symbol']) },
  fields: {
    symbol: keyword(),
    issuer: text(),
    /** Maximum number of items. */
    total_supply: long(),
    /** Number of items issued, numbered from 0; items are never destroyed. */
    issued: sortedInt(),
    /** Number of owners with at least one item of the collection. */
    owner_count: int(),
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
    /** Height, time and transaction in which the item was issued. */
    height: int(),
    time: long(),
    tx_hash: text(),
  },
})

export type ItemDoc = DocOf<typeof items>

/**
 * Owners and the items that they have or had. Id: `memberId` of the owner and the id of the item. Each owner has one
 * more document, with `""` as its item (`countOfItems`), which counts the items; no order contains it.
 */
export const holdings = defineIndex({
  name: 'holdings',
  kind: 'state',
  orders: { ofOwner: countedOrder(['since', 'item'], { group: 'owner', positive: true }) },
  fields: {
    owner: keyword(),
    /** Id of the item. */
    item: keyword(),
    /** The height after that of the block in which the owner received the item; 0: the owner no longer has it. */
    since: sortedInt(),
    /** Number of items of the owner. Only in the document with `""` as its item. */
    count: int(),
  },
})

/**
 * Number of items of a collection that each owner has; former owners included. Id: `memberId` of the
 * collection and the owner.
 */
export const collectionOwners = defineIndex({
  name: 'collection-owners',
  kind: 'state',
  orders: { ofCollection: countedOrder(['count', 'owner'], { group: 'collection', positive: true }) },
  fields: {
    collection: keyword(),
    owner: keyword(),
    /** 0: the owner no longer has any. */
    count: sortedInt(),
  },
})

export const itemId = (symbol: string, number: string): string => `${symbol}/${number}`

/** Id of the document of `holdings` that counts the items of an owner. */
export const countOfItems = (owner: string): string => memberId(owner, '')

/**
 * The contract stores the issuer of a collection under this name among the owners of its items. It does not check that
 * the id of an item is a number, so an issuer can transfer the right to issue (go-iost, vm/native/token721.go).
 */
export const ISSUER_FIELD = 'T721issuer'
