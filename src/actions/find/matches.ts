import { listHash8Candidates } from '#chain/hash.ts'
import { isHash, isPublicKey, lowerAddress, toContractId } from '#chain/names.ts'
import { unless } from '#failure/failure.ts'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { blocks } from '#indices/block.ts'
import { contracts } from '#indices/contract.ts'
import { producerKeys, producers } from '#indices/producer.ts'
import type { NamedIndex } from '#indices/registry.ts'
import { tokens } from '#indices/token.ts'
import { collections } from '#indices/token721.ts'
import { transactions } from '#indices/transaction.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { type BlockName, findBlock } from './block.ts'
import { findTransaction } from './transaction.ts'

/** A hash or an id as lists abbreviate it: its beginning, and its end if that is given. */
const SHORTENED = /^([1-9A-HJ-NP-Za-km-z]{1,98})(?:(?:…|\.{2,3})([1-9A-HJ-NP-Za-km-z]*))?$/

/** Maximum number of contracts compared: far fewer begin with `Contract` and the same two characters. */
const MAX_CONTRACTS = 500

/** Blocks, transactions, base transactions or contracts of the store whose hash or id a text abbreviates. */
async function matchShortened(view: View, text: string): Promise<readonly Match[]> {
  const [, beginning = '', end = ''] = SHORTENED.exec(text) ?? []
  const exact = end !== ''
  if (beginning.startsWith('Contract')) {
    const found = await view.startingWith(contracts, beginning, MAX_CONTRACTS)
    return found.filter(({ id }) => id.endsWith(end)).map(({ id }) => match('contract', id, exact))
  }
  const keys = listHash8Candidates(beginning)
  if (keys.length === 0) return []
  const [ofBlocks, ofBase, ofTransactions] = await Promise.all([
    view.findAny(blocks, 'hash8', keys),
    view.findAny(blocks, 'base_hash8', keys),
    view.findAny(transactions, 'hash8', keys),
  ])
  const ofHash = (type: 'block' | 'transaction', hash: string, height: number): Match => ({
    ...match(type, type === 'block' ? String(height) : hash, exact),
    block_number: String(height),
    hash,
    status: 'IRREVERSIBLE',
  })
  return [
    ...ofBlocks.map(({ hash, height }) => ofHash('block', hash, height)),
    ...ofBase.map(({ tx_hashes, height }) => ofHash('transaction', tx_hashes.split(' ', 1)[0] ?? '', height)),
    ...ofTransactions.map(({ hash, height }) => ofHash('transaction', hash, height)),
  ].filter(({ hash }) => hash.startsWith(beginning) && hash.endsWith(end))
}

/** Tokens whose full names are compared, those with the most holders first: there is no index on full names. */
export const MAX_COMPARED = 500
/** Length of the longest full name in a search, in characters. */
const MAX = 100

/**
 * Symbols of the tokens whose full names begin with a text, ignoring case; most holders first. A single letter finds only
 * those of which it is the whole name.
 */
export async function symbolsByFullName(view: View, text: string): Promise<readonly string[]> {
  if (text === '' || text.length > MAX) return []
  const beginning = text.toLowerCase()
  const isLetter = [...text].length === 1
  const fits = (name: string): boolean => (isLetter ? name === beginning : name.startsWith(beginning))
  const known = await view.page(tokens, 'byHolders', { offset: 0, limit: MAX_COMPARED })
  return known.filter(({ full_name }) => fits(full_name.toLowerCase())).map(({ symbol }) => symbol)
}

/** The types of things in search results, in the order of matches. */
export const TYPES = ['account', 'block', 'transaction', 'contract', 'token', 'producer', 'collection'] as const

/** A thing with a name that equals a text or begins with it. */
type Match = {
  readonly type: (typeof TYPES)[number]
  readonly id: string
  readonly exact: boolean
  /** `""` except for blocks and transactions; likewise `hash` and `status`. */
  readonly block_number: string
  readonly hash: string
  /** `IRREVERSIBLE`, `PACKED` while its block may still be replaced, `PENDING` in the pool. */
  readonly status: string
}

export const MAX_OF_KIND = 10
/** The characters and length limit of all names (chain/names.ts): no other text is a prefix of one. */
const BEGINNING = /^[A-Za-z0-9_.]{1,100}$/
const NUMBER = /^[0-9]{1,19}$/

const NAMED = [
  ['account', accounts],
  ['contract', contracts],
  ['token', tokens],
  ['producer', producers],
] as const

/**
 * All things that a text may refer to: exact matches first, then by type and name. If no name begins with the
 * text, it is tried as an abbreviated hash, then as a full name. Throws 'unavailable' when it may be a block
 * or transaction that only the followed node has, and the node cannot be asked.
 */
export async function findMatches(context: Context, given: string): Promise<readonly Match[]> {
  const { view } = context
  const text = lowerAddress(given)
  const ofKey = await matchKey(view, text)
  if (ofKey.length > 0) return ofKey
  const named = await matchNamed(context, text)
  if (named.length > 0) return named
  const shortened = await matchShortened(view, text)
  if (shortened.length > 0) return shortened.slice(0, MAX_OF_KIND)
  const symbols = await symbolsByFullName(view, text)
  return symbols.slice(0, MAX_OF_KIND).map(symbol => match('token', symbol, false))
}

/** The producer whose blocks a public key signs, and the key itself if it owns tokens. */
async function matchKey(view: View, text: string): Promise<readonly Match[]> {
  if (!isPublicKey(text)) return []
  const [signer, owned] = await Promise.all([
    view.get(producerKeys, text),
    view.page(balances, 'rowsOfOwner', { group: text, offset: 0, limit: 1 }),
  ])
  const account = signer?.account ?? ''
  const producer = account === '' ? undefined : await view.get(producers, account)
  return [
    ...(owned.length === 0 ? [] : [match('account', text, true)]),
    ...(producer?.listed === undefined ? [] : [match('producer', account, true)]),
  ]
}

async function matchNamed(context: Context, text: string): Promise<readonly Match[]> {
  if (!BEGINNING.test(text)) return []
  const [block, ofHash, collection, ...named] = await Promise.all([
    NUMBER.test(text) ? matchBlock(context, { number: BigInt(text) }) : [],
    isHash(text) ? matchHash(context, text) : [],
    matchCollection(context.view, text),
    ...NAMED.map(([type, index]) => matchNames(context.view, { type, index }, text)),
  ])
  return [...block, ...ofHash, ...collection, ...named.flat()].toSorted(
    (a, b) => Number(b.exact) - Number(a.exact) || TYPES.indexOf(a.type) - TYPES.indexOf(b.type),
  )
}

const matchNames = async (
  view: View,
  { type, index }: { readonly type: Match['type']; readonly index: NamedIndex },
  text: string,
): Promise<readonly Match[]> =>
  (await view.startingWith(index, text, MAX_OF_KIND)).map(({ id }) => match(type, id, id === text))

/** A collection of NFTs by its whole symbol: the stores have no index for prefixes of these symbols. */
const matchCollection = async (view: View, text: string): Promise<readonly Match[]> =>
  (await view.get(collections, text)) === undefined ? [] : [match('collection', text, true)]

/** Things with a given hash. A node is asked only if the store has none, because a hash belongs to one thing. */
async function matchHash(context: Context, hash: string): Promise<readonly Match[]> {
  const stored = { ...context, node: undefined }
  const contract = toContractId(hash)
  const [blocks, transactions, deployed] = await Promise.all([
    matchBlock(stored, { hash }),
    matchTransaction(stored, hash),
    context.view.get(contracts, contract),
  ])
  const found = [...blocks, ...transactions, ...(deployed === undefined ? [] : [match('contract', contract, true)])]
  if (found.length > 0 || context.node === undefined) return found
  const ahead = await matchBlock(context, { hash })
  return ahead.length > 0 ? ahead : matchTransaction(context, hash)
}

async function matchBlock(context: Context, name: BlockName): Promise<readonly Match[]> {
  const found = await ifKnown(findBlock(context, name))
  if (found === undefined) return []
  const { status, doc } = found
  const { height, hash } = doc
  // A node reports PENDING for a block that lists call PACKED, like the transactions in it.
  return [
    {
      ...match('block', String(height), true),
      block_number: String(height),
      hash,
      status: status === 'PENDING' ? 'PACKED' : status,
    },
  ]
}

async function matchTransaction(context: Context, hash: string): Promise<readonly Match[]> {
  const found = await ifKnown(findTransaction(context, hash))
  return found === undefined
    ? []
    : [{ ...match('transaction', hash, true), block_number: found.blockNumber, hash, status: found.status }]
}

const match = (type: Match['type'], id: string, exact: boolean): Match => ({
  type,
  id,
  exact,
  block_number: '',
  hash: '',
  status: '',
})

/** The result of a look-up; undefined: there is no such thing, as far as the chain is loaded. */
const ifKnown = <T>(work: Promise<T>): Promise<T | undefined> => unless(['not_found', 'loading'], work)
