import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { refuseWhileLoading } from './find/loading.ts'
import { findMatches, MAX_COMPARED, TYPES } from './find/matches.ts'
import { buildWholeList } from './list/paging.ts'
import { defineParameter } from './request/query.ts'
import { shown } from './request/refusals.ts'
import { described, flag, listOfRows, shape, text } from './shape/results.ts'

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
      refuseWhileLoading(context, { en: `A match for ${shown(given)}`, zh: `${shown(given)} 的匹配结果` })
    return buildWholeList('matches', matches)
  },
  fails: ['loading', 'bad_block'],
  example: { text: 'busyhub' },
})
