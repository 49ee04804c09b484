import { Type } from '@sinclair/typebox'
import { BASE58_LETTER } from '#chain/base58.ts'
import { isContractId, isHash, isPossibleName, isTokenSymbol, toContractId } from '#chain/names.ts'
import type { Text } from '../define.ts'
import { defineListParameter, defineParameter, type ParameterSpec, WHOLE_NUMBER, WHOLE_RULE } from './query.ts'

/** Parameter types of requests: each includes the strict parser of its text. */

const ACCOUNT = '(?:[a-z0-9_]{5,11}|0x[0-9a-f]{40})'
const SYSTEM = '[a-z0-9_]{1,94}\\.iost'
const USER_CONTRACT = `Contract${BASE58_LETTER}{1,91}`
/** A contract id without its prefix: the hash of the transaction that deployed it. */
const BARE_CONTRACT = `${BASE58_LETTER}{32,44}`

/** A contract id as the chain writes it. */
export const CONTRACT = `(?:${SYSTEM}|${USER_CONTRACT})`
export const ACTION = '[A-Za-z0-9_]{1,32}'
/**
 * A contract id or a public key. The alternatives differ in length, so that no text matches two of them: in a list, a
 * validator would try every combination.
 */
const CONTRACT_OR_KEY = `(?:${SYSTEM}|Contract${BASE58_LETTER}{1,23}|${BASE58_LETTER}{32,46}|Contract${BASE58_LETTER}{39,91})`

/** Names of these parameters in other services. */
const ACCOUNT_FOREIGN_NAMES = ['address', 'addr', 'user', 'username', 'owner', 'name', 'account_name', 'accountname']
const PAGE_ELSEWHERE = ['offset', 'p', 'page_no', 'pageno', 'page_num', 'pagenum', 'page_number', 'skip']
const SIZE_ELSEWHERE = ['limit', 'per_page', 'perpage', 'page_size', 'pagesize', 'count', 'rows', 'take']

const ACCOUNT_RULE: Text = {
  en: 'an account name (5 to 11 characters of a-z, 0-9 and _, or 0x and 40 lower-case hexadecimal digits)',
  zh: '账户名，由 5 至 11 个 a-z、0-9、_ 字符组成，或为 0x 加 40 位小写十六进制数字',
}

const NEWEST_FIRST: Text = {
  en: 'desc returns the newest first, asc the exact reverse.',
  zh: 'desc 最新的在前；asc 顺序完全相反。',
}

const same = (text: string): string => text

export const SIZE_DEFAULT = 20
const SIZE_MAX = 500

export const account = () =>
  defineParameter<string>({
    type: 'string',
    description: { en: 'Account name.', zh: '账户名。' },
    rule: ACCOUNT_RULE,
    pattern: `^${ACCOUNT}$`,
    example: 'busyhub',
    sample: 'account',
    foreignNames: ACCOUNT_FOREIGN_NAMES,
    read: same,
  })

/**
 * The name of anything with a balance or a list. A contract may be given without its prefix (`owner.ts` resolves it).
 */
export const owner = () =>
  defineParameter<string>({
    type: 'string',
    description: {
      en: 'Account name. Also accepts a contract id, a public key that owns tokens, or 0.',
      zh: '账户名。也可以是合约 ID、持有代币的公钥或 0。',
    },
    rule: {
      en: 'an account name (5 to 11 characters of a-z, 0-9 and _, or 0x and 40 lower-case hexadecimal digits), a contract id, a base58 public key, or 0',
      zh: '账户名（由 5 至 11 个 a-z、0-9、_ 字符组成，或为 0x 加 40 位小写十六进制数字）、合约 ID、base58 公钥或 0',
    },
    pattern: `^(?:${ACCOUNT}|${CONTRACT_OR_KEY}|0)$`,
    example: 'busyhub',
    sample: 'account',
    foreignNames: ACCOUNT_FOREIGN_NAMES,
    read: text => (isPossibleName(text) || isHash(text) ? text : undefined),
  })

export function owners() {
  return defineListParameter(owner(), {
    description: {
      en: 'Account name, or up to 50 of them joined by commas. Also accepts contract ids, public keys that own tokens, and 0.',
      zh: '账户名，或最多 50 个以英文逗号分隔的账户名。也可以是合约 ID、持有代币的公钥或 0。',
    },
    example: 'busyhub',
    sample: 'account',
    foreignNames: ['accounts', 'addresses', 'names', 'owners', 'users', ...ACCOUNT_FOREIGN_NAMES],
    isMostlyOne: true,
  })
}

export const producer = (aliases: readonly string[] = []) =>
  defineParameter<string>({
    type: 'string',
    description: { en: 'Account name of the producer.', zh: '生产者的账户名。' },
    rule: ACCOUNT_RULE,
    pattern: `^${ACCOUNT}$`,
    example: 'producer000',
    sample: 'producer',
    aliases,
    foreignNames: ['account', 'address', 'addr', 'name', 'witness', 'node'],
    read: same,
  })

/** A token parameter with its own description. */
export const tokenAs = (description: Text) =>
  defineParameter<string>({
    type: 'string',
    description,
    rule: {
      en: 'a token name (1 to 64 characters of a-z, 0-9, . and _)',
      zh: '代币名称，由 1 至 64 个 a-z、0-9、_、. 字符组成',
    },
    pattern: '^[a-z0-9_.]{1,64}$',
    example: 'iost',
    sample: 'token',
    foreignNames: ['symbol', 'coin', 'currency', 'token_name', 'tokenname', 'asset'],
    read: text => (isTokenSymbol(text) ? text : undefined),
  })

export const token = () => tokenAs({ en: 'Token name (symbol).', zh: '代币名称（符号）。' })

/** A contract's id; the value has the prefix even if the caller omits it. */
export const contract = () =>
  defineParameter<string>({
    type: 'string',
    description: {
      en: 'Contract id, with or without the prefix Contract. System contracts have names such as token.iost.',
      zh: '合约 ID，Contract 前缀可省略。系统合约使用名称，例如 token.iost。',
    },
    rule: {
      en: 'a contract id (Contract and a base58 text; without the prefix, a hash of 32 bytes) or a system contract such as token.iost',
      zh: '合约 ID，即 Contract 加 base58 文本（省略前缀时须为 32 字节的哈希），或 token.iost 之类的系统合约',
    },
    pattern: `^(?:${CONTRACT}|${BARE_CONTRACT})$`,
    example: 'token.iost',
    sample: 'contract',
    foreignNames: ['contract_id', 'contractid', 'contract_address', 'contractaddress', 'address'],
    read: parseContractId,
  })

export const hash = (of: 'block' | 'transaction') =>
  defineParameter<string>({
    type: 'string',
    description:
      of === 'block'
        ? { en: 'Hash of the block.', zh: '区块哈希。' }
        : { en: 'Hash of the transaction.', zh: '交易哈希。' },
    rule: {
      en: 'a hash (32 bytes in base58, usually 43 or 44 characters)',
      zh: '哈希，即 32 字节的 base58 文本，通常为 43 或 44 个字符',
    },
    pattern: `^${BASE58_LETTER}{32,44}$`,
    example:
      of === 'block' ? '8psW23ozxC4SjoXeD2DSPWBNzR3Re9a3ei9Vu1C49sQg' : '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp',
    sample: of === 'block' ? 'block hash' : 'transaction',
    foreignNames: ['hash', 'txhash', 'tx', 'txid', 'tx_id', 'transaction_hash', 'block_hash', 'blockhash', 'id'],
    read: text => (isHash(text) ? text : undefined),
  })

export const transactionHashes = (about: Pick<ParameterSpec, 'description' | 'aliases' | 'foreignNames'>) =>
  defineListParameter(hash('transaction'), {
    ...about,
    example: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp',
    sample: 'transactions',
    foreignNames: [...(about.foreignNames ?? []), 'hash', 'hashes', 'txhash', 'txhashes', 'txs', 'txids', 'ids'],
  })

/** A block number. A number beyond the chain is valid, too: the block is then unknown. */
export const number = () =>
  defineParameter<bigint>({
    type: 'integer',
    description: { en: 'Block number (height).', zh: '区块高度。' },
    rule: WHOLE_RULE,
    pattern: `^${WHOLE_NUMBER}$`,
    minimum: 0,
    example: '4851',
    sample: 'block',
    foreignNames: ['height', 'block', 'block_height', 'blockheight', 'blockno', 'block_no', 'number'],
    read: BigInt,
  })

const FROM_1: Text = {
  en: 'Page number, starting at 1; 0 is read as 1.',
  zh: '页码，从 1 开始；0 等同于 1。',
}
const MAX_ROWS: Text = { en: 'Maximum rows per page', zh: '每页最大行数' }
const WHOLE_LIST: Text = {
  en: 'Without page and size, the complete list is returned.',
  zh: '不提供 page 和 size 时返回完整列表。',
}

/** Page from 1; 0 is read as 1. A page far beyond the end is an empty page, so the number is a bigint. */
const page = (of: Pick<ParameterSpec<bigint>, 'description' | 'fallback'>) =>
  defineParameter<bigint>({
    ...of,
    type: 'integer',
    rule: WHOLE_RULE,
    pattern: `^${WHOLE_NUMBER}$`,
    minimum: 0,
    example: '1',
    foreignNames: PAGE_ELSEWHERE,
    read: text => BigInt(text) || 1n,
  })

const size = (of: Pick<ParameterSpec<number>, 'description' | 'fallback'>) =>
  defineParameter<number>({
    ...of,
    type: 'integer',
    rule: { en: `a whole number from 1 to ${SIZE_MAX}`, zh: `1 至 ${SIZE_MAX} 的整数` },
    pattern: `^${WHOLE_NUMBER}$`,
    minimum: 1,
    maximum: SIZE_MAX,
    example: String(SIZE_DEFAULT),
    foreignNames: SIZE_ELSEWHERE,
    read: readSize,
  })

/** @param description the order of the rows; absent: newest first. */
export const sort = (description: Text = NEWEST_FIRST) =>
  defineParameter<'asc' | 'desc'>({
    type: 'string',
    description,
    rule: { en: 'desc or asc', zh: 'desc 或 asc' },
    pattern: '^(?:asc|desc)$',
    values: ['desc', 'asc'],
    fallback: 'desc',
    example: 'desc',
    foreignNames: ['order', 'dir', 'direction', 'order_by', 'orderby', 'sort_order'],
    read: text => (text === 'asc' ? 'asc' : 'desc'),
  })

export const actionName = () =>
  Type.Optional(
    defineParameter<string>({
      type: 'string',
      description: {
        en: 'Return only rows of this action of the contract.',
        zh: '只返回该合约此方法的记录。',
      },
      rule: {
        en: 'an action name (1 to 32 characters of A-Z, a-z, 0-9 and _)',
        zh: '方法名，由 1 至 32 个 A-Z、a-z、0-9、_ 字符组成',
      },
      pattern: `^${ACTION}$`,
      example: 'transfer',
      sample: 'action',
      foreignNames: ['method', 'function', 'function_name', 'abi'],
      read: same,
    }),
  )

/** A contract id with its prefix, from a text with or without it; undefined: the text is not one. */
function parseContractId(text: string): string | undefined {
  if (isContractId(text)) return text
  return isHash(text) ? toContractId(text) : undefined
}

function readSize(text: string): number | undefined {
  const value = BigInt(text)
  return value >= 1n && value <= BigInt(SIZE_MAX) ? Number(value) : undefined
}

export const paging = {
  page: page({ description: FROM_1, fallback: 1n }),
  size: size({ description: { en: `${MAX_ROWS.en}.`, zh: `${MAX_ROWS.zh}。` }, fallback: SIZE_DEFAULT }),
}

/** Page and size of a list that is returned whole when neither is given. */
export const pagingIfAsked = {
  page: Type.Optional(
    page({ description: { en: `${FROM_1.en} ${WHOLE_LIST.en}`, zh: `${FROM_1.zh}${WHOLE_LIST.zh}` } }),
  ),
  size: Type.Optional(
    size({
      description: {
        en: `${MAX_ROWS.en}; ${SIZE_DEFAULT} if only page is given. ${WHOLE_LIST.en}`,
        zh: `${MAX_ROWS.zh}；只提供 page 时为 ${SIZE_DEFAULT}。${WHOLE_LIST.zh}`,
      },
    }),
  ),
}

export const collection = () =>
  defineParameter<string>({
    type: 'string',
    description: {
      en: 'NFT collection: its symbol in token721.iost.',
      zh: 'NFT 合集，即其在 token721.iost 中的符号。',
    },
    rule: {
      en: 'the symbol of a collection (1 to 64 characters of a-z, 0-9, . and _)',
      zh: '合集符号，由 1 至 64 个 a-z、0-9、_、. 字符组成',
    },
    pattern: '^[a-z0-9_.]{1,64}$',
    example: 'nft_cats',
    sample: 'collection',
    foreignNames: ['symbol', 'token', 'contract', 'collection_id', 'collectionid'],
    read: text => text,
  })

/** The id of an NFT in its collection, in its form on the chain: without leading zeros. */
export const tokenId = () =>
  defineParameter<string>({
    type: 'integer',
    description: {
      en: 'Id of the NFT: its number in the collection, from 0.',
      zh: 'NFT 的 ID，即其在合集中的编号，从 0 开始。',
    },
    rule: WHOLE_RULE,
    pattern: `^${WHOLE_NUMBER}$`,
    minimum: 0,
    example: '0',
    sample: 'nft',
    foreignNames: ['id', 'tokenid', 'nft_id', 'item', 'item_id'],
    read: text => String(BigInt(text)),
  })
