import { type DocOf, defineIndex } from './define.ts'
import { int, keyword, long, packed, sortedInt, text, word } from './fields.ts'
import { memberId } from './standing.ts'

/** Collections of NFTs: what token721.iost calls tokens. Id: the symbol. */
export const collections = defineIndex({
  name: 'collections',
  kind: 'state',
  orders: {
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
    /** Items so far, numbered from 0; none is ever destroyed. */
    issued: sortedInt(),
    /** Number of owners with at least one of them. */
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
    /** Where it was issued. */
    height: int(),
    time: long(),
    tx_hash: text(),
  },
})

export type ItemDoc = DocOf<typeof items>

/**
 * Who has or had which items. Id: `memberId` of the owner and the id of the item. Each owner has one more document, with
 * `""` as its item (`countOfItems`), which counts its items; no order contains it.
 */
export const holdings = defineIndex({
  name: 'holdings',
  kind: 'state',
  orders: {
    ofOwner: {
      group: 'owner',
      positive: ['since'],
      by: [
        ['since', 'desc'],
        ['item', 'asc'],
      ],
      counted: true,
    },
  },
  fields: {
    owner: keyword(),
    /** Id of the item. */
    item: keyword(),
    /** The height after that of the block in which the owner got it; 0: the owner has it no more. */
    since: sortedInt(),
    /** Only where no item is named: how many the owner has. */
    count: int(),
  },
})

/** How many items of a collection each owner has or had. Id: `memberId` of the collection and the owner. */
export const collectionOwners = defineIndex({
  name: 'collection-owners',
  kind: 'state',
  orders: {
    ofCollection: {
      group: 'collection',
      positive: ['count'],
      by: [
        ['count', 'desc'],
        ['owner', 'asc'],
      ],
      counted: true,
    },
  },
  fields: {
    collection: keyword(),
    owner: keyword(),
    /** 0: the owner has none any more. */
    count: sortedInt(),
  },
})

export const itemId = (symbol: string, number: string): string => `${symbol}/${number}`

/** Id of the document of `holdings` that counts the items of an owner. */
export const countOfItems = (owner: string): string => memberId(owner, '')

/**
 * The contract keeps the issuer of a collection among the owners of its items, by this name, and does not ask whether what
 * is given is a number: whoever issues can give the right to issue (go-iost, vm/native/token721.go).
 */
export const ISSUER_FIELD = 'T721issuer'
