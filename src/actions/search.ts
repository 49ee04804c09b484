import { Type } from '@sinclair/typebox'
import { listHash8Candidates } from '#chain/hash.ts'
import { isHash, isPublicKey, lowerAddress, toContractId } from '#chain/names.ts'
import { catchKinds } from '#failure/failure.ts'
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
import { type Context, defineAction } from './define.ts'
import { type BlockName, findBlock } from './find/block.ts'
import { refuseWhileLoading } from './find/loading.ts'
import { findTransaction } from './find/transaction.ts'
import { buildWholeList } from './list/paging.ts'
import { defineParameter } from './request/query.ts'
import { quoteGiven } from './request/refusals.ts'
import { described, flag, listOfRows, shape, text } from './shape/results.ts'

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
const MAX_COMPARED = 500
/** Length of the longest full name in a search, in characters. */
const MAX = 100

/**
 * Symbols of the tokens whose full names begin with a text, ignoring case; most holders first. A single letter finds only
 * those of which it is the whole name.
 */
export async function findSymbolsByFullName(view: View, text: string): Promise<readonly string[]> {
  if (text === '' || text.length > MAX) return []
  const beginning = text.toLowerCase()
  const isLetter = [...text].length === 1
  const fits = (name: string): boolean => (isLetter ? name === beginning : name.startsWith(beginning))
  const known = await view.page(tokens, 'byHolders', { offset: 0, limit: MAX_COMPARED })
  return known.filter(({ full_name }) => fits(full_name.toLowerCase())).map(({ symbol }) => symbol)
}

/** The types of things in search results, in the order of matches. */
const TYPES = ['account', 'block', 'transaction', 'contract', 'token', 'producer', 'collection'] as const

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
async function findMatches(context: Context, given: string): Promise<readonly Match[]> {
  const { view } = context
  const text = lowerAddress(given)
  const ofKey = await matchKey(view, text)
  if (ofKey.length > 0) return ofKey
  const named = await matchNamed(context, text)
  if (named.length > 0) return named
  const shortened = await matchShortened(view, text)
  if (shortened.length > 0) return shortened.slice(0, MAX_OF_KIND)
  const symbols = await findSymbolsByFullName(view, text)
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
  const found = await resolveIfKnown(findBlock(context, name))
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
  const found = await resolveIfKnown(findTransaction(context, hash))
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
const resolveIfKnown = <T>(work: Promise<T>): Promise<T | undefined> => catchKinds(['not_found', 'loading'], work)

const row = shape({
  type: described(Type.Union(TYPES.map(type => Type.Literal(type))), 'Kind of the match.', '类型。'),
  id: text(
    'Name of the account, token, producer or NFT collection, id of the contract, number of the block, or hash of the transaction.',
    '账户、代币、生产者或 NFT 合集的名称，合约 ID，区块高度，或交易哈希。',
  ),
  exact: flag(
    'Whether the text names it; otherwise its name only begins with the text.',
    '文本是否恰好指代它；否则只是其名称以该文本开头。',
  ),
  block_number: text(
    'Number of the block, or of the block with the transaction (-1: not in an irreversible block yet); empty for anything else.',
    '区块高度，或交易所在区块的高度（-1 表示尚未进入不可逆区块）；其他类型为空。',
  ),
  hash: text('Hash of the block or transaction; empty for anything else.', '区块或交易的哈希；其他类型为空。'),
  status: text(
    'IRREVERSIBLE for a block or transaction that stays, PACKED while its block may still be replaced, PENDING for a transaction that a node has in its pool; empty for anything else.',
    '区块或交易已不可逆时为 IRREVERSIBLE，所在区块仍可能被替换时为 PACKED，交易在全节点的交易池中时为 PENDING；其他类型为空。',
  ),
})

/** Search for things by name, number, hash or id. */
export const search = defineAction({
  module: 'base',
  action: 'search',
  title: { en: 'Search', zh: '搜索' },
  summary: {
    en: `What a text names: an account, a block (number or hash), a transaction (hash), a contract (id, with or without the prefix Contract), a token, a registered producer or an NFT collection (its whole symbol); these matches come first, in this order: account, block, transaction, contract, token, producer, collection. Then the accounts, contracts, tokens and producers whose names begin with the text, by name, at most 10 of each kind together with the exact match. Upper and lower case differ, except in an address that begins with 0x, and no character is a wildcard. A public key names the producer whose blocks it signs, and itself where it owns tokens. Where no name begins with the text, matches are the blocks, transactions and contracts with a shortened hash or id (its beginning, of at least 10 characters, then optionally …, ... or .. and its end), else tokens whose full name begins with the text, or is the text if this is one letter, in any case, among the ${MAX_COMPARED} with the most holders. An empty text matches nothing.`,
    zh: `查找文本所指代的对象：账户、区块（高度或哈希）、交易（哈希）、合约（ID，Contract 前缀可省略）、代币、已注册的生产者或 NFT 合集（完整符号），完全匹配的排在最前，依次为账户、区块、交易、合约、代币、生产者、合集。其后是名称以该文本开头的账户、合约、代币与生产者，按名称排列，每类连同完全匹配的最多 10 个。区分大小写（0x 开头的地址除外），没有通配符。公钥指代以其签名出块的生产者；若该公钥持有代币，也指代其自身。没有名称以该文本开头时，匹配缩写的哈希或 ID（至少前 10 个字符，其后可接 …、... 或 .. 与末尾部分）所对应的区块、交易与合约；若仍无结果，则在持有者最多的 ${MAX_COMPARED} 种代币中匹配全名以该文本开头者（文本只有一个字符时，全名须与其相同；不区分大小写）。空文本不匹配任何对象。`,
  },
  params: Type.Object({
    text: defineParameter<string>({
      type: 'string',
      description: { en: 'Text to search for.', zh: '要搜索的文本。' },
      rule: { en: 'a text', zh: '文本' },
      pattern: '^[\\s\\S]*$',
      example: 'busyhub',
      sample: 'account',
      foreignNames: ['q', 'query', 'search', 'keyword', 'keywords', 'term', 'name', 'id', 'hash', 'key'],
      read: given => given,
    }),
  }),
  result: listOfRows('matches', row, { en: 'Matches.', zh: '匹配列表。' }),
  list: 'matches',
  run: async (context, { text: given }) => {
    const matches = await findMatches(context, given)
    if (matches.length === 0)
      refuseWhileLoading(context, { en: `A match for ${quoteGiven(given)}`, zh: `${quoteGiven(given)} 的匹配结果` })
    return buildWholeList('matches', matches)
  },
  fails: ['loading', 'bad_block'],
  example: { text: 'busyhub' },
})
