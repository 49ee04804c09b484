import { base58Of32 } from '#chain/base58-of-32.ts'
import { hashBytes } from '#chain/hash.ts'
import { merkleRoot } from '#chain/merkle.ts'
import { blocks } from '#indices/block.ts'
import { transactions } from '#indices/transaction.ts'

/** A document as far as it is stored. */
export type Fields = Readonly<Record<string, unknown>>

/** Gives a field of a document from the others; undefined: nothing follows. */
export type Follows = (doc: Fields) => string | undefined

/** Fields that nearly always follow from others of the same document: then nothing is stored in their place. */
const FOLLOWS: ReadonlyMap<string, Follows> = new Map([
  // A producer has several blocks in a row, and the base transaction names the one of the block before.
  [`${blocks.name}.witness`, (doc: Fields) => memberOf(doc['base'], 'w')],
  [`${blocks.name}.witness_account`, (doc: Fields) => memberOf(doc['base'], 't')],
  [`${blocks.name}.tx_merkle_hash`, (doc: Fields) => rootOfOne(doc['tx_hashes'])],
  [`${transactions.name}.hash`, (doc: Fields) => hashInBody(doc['body'])],
])

export const followsFrom = (index: string, field: string): Follows | undefined =>
  FOLLOWS.get(`${index}.${field}`)

/** A text of the base transaction's difference from the template. */
const memberOf = (base: unknown, name: string): string | undefined => {
  if (typeof base !== 'string') return undefined
  // Keys and names of accounts have no quotation mark and no backslash in them.
  const [, text] = MEMBERS[name]?.exec(base) ?? []
  return text
}
const MEMBERS: Readonly<Record<string, RegExp>> = {
  w: /^\{"c":\d+,"w":"([^"\\]*)"/,
  t: /^\{"c":\d+,"w":"[^"\\]*","g":"\d+",(?:"f":true,)?"t":"([^"\\]*)"/,
}

/** Root of the tree whose only leaf is this hash. */
const rootOfOne = (hashes: unknown): string | undefined => {
  const leaf = typeof hashes === 'string' ? hashBytes(hashes) : undefined
  return leaf === undefined ? undefined : base58Of32(merkleRoot([leaf]))
}

const hashInBody = (body: unknown): string | undefined =>
  typeof body === 'string' ? /^\{"hash":"([^"\\]*)"/.exec(body)?.[1] : undefined
