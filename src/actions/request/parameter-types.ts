import { Type } from '@sinclair/typebox'
import { isContractId, isHash, isPossibleName, isTokenSymbol } from '#chain/names.ts'
import { word } from './parameters.ts'

/** The field words of the requests: one per kind of parameter, each reading itself strictly from text. */

const BASE58 = '[1-9A-HJ-NP-Za-km-z]'
const ACCOUNT = '(?:[a-z0-9_]{5,11}|0x[0-9a-f]{40})'
const SYSTEM = '[a-z0-9_]{1,94}\\.iost'
const USER_CONTRACT = `Contract${BASE58}{1,91}`
/** A contract id without its prefix: the hash of the transaction that deployed it. */
const BARE_CONTRACT = `${BASE58}{32,44}`
/** Widest value of a signed 64-bit integer has 19 digits. */
const NUMBER = '[0-9]{1,19}'

const same = (text: string): string => text

export const SIZE_DEFAULT = 20
const SIZE_MAX = 500

export const account = () =>
  word<string>({
    type: 'string',
    description: { en: 'Account name.', zh: '账户名。' },
    rule: {
      en: 'an account name (5 to 11 characters of a-z, 0-9 and _, or 0x and 40 lower-case hexadecimal digits)',
      zh: '账户名，由 5 至 11 个 a-z、0-9、_ 字符组成，或为 0x 加 40 位小写十六进制数字',
    },
    pattern: `^${ACCOUNT}$`,
    example: 'busyhub',
    read: same,
  })

/** Anything that has a balance or a list. A contract may be given without its prefix (`owner.ts` resolves it). */
export const owner = () =>
  word<string>({
    type: 'string',
    description: {
      en: 'Account name. Also accepts a contract id, a public key that owns tokens, or 0.',
      zh: '账户名。也可以是合约 ID、持有代币的公钥或 0。',
    },
    rule: {
      en: 'an account name (5 to 11 characters of a-z, 0-9 and _, or 0x and 40 lower-case hexadecimal digits), a contract id, a base58 public key, or 0',
      zh: '账户名（由 5 至 11 个 a-z、0-9、_ 字符组成，或为 0x 加 40 位小写十六进制数字）、合约 ID、base58 公钥或 0',
    },
    pattern: `^(?:${ACCOUNT}|${SYSTEM}|${USER_CONTRACT}|${BASE58}{32,46}|0)$`,
    example: 'busyhub',
    read: text => (isPossibleName(text) || isHash(text) ? text : undefined),
  })

export const producer = (aliases: readonly string[] = []) =>
  word<string>({
    type: 'string',
    description: { en: 'Account name of the producer.', zh: '生产者的账户名。' },
    rule: {
      en: 'an account name (5 to 11 characters of a-z, 0-9 and _, or 0x and 40 lower-case hexadecimal digits)',
      zh: '账户名，由 5 至 11 个 a-z、0-9、_ 字符组成，或为 0x 加 40 位小写十六进制数字',
    },
    pattern: `^${ACCOUNT}$`,
    example: 'producer000',
    aliases,
    read: same,
  })

export const token = () =>
  word<string>({
    type: 'string',
    description: { en: 'Token name (symbol).', zh: '代币名称（符号）。' },
    rule: {
      en: 'a token name (1 to 64 characters of a-z, 0-9, . and _)',
      zh: '代币名称，由 1 至 64 个 a-z、0-9、_、. 字符组成',
    },
    pattern: '^[a-z0-9_.]{1,64}$',
    example: 'iost',
    read: text => (isTokenSymbol(text) ? text : undefined),
  })

/** A contract's id with its prefix, whether or not the caller wrote it. */
export const contract = () =>
  word<string>({
    type: 'string',
    description: {
      en: 'Contract id, with or without the prefix Contract. System contracts have names such as token.iost.',
      zh: '合约 ID，Contract 前缀可省略。系统合约使用名称，例如 token.iost。',
    },
    rule: {
      en: 'a contract id (Contract and a base58 text; without the prefix, a hash of 32 bytes) or a system contract such as token.iost',
      zh: '合约 ID，即 Contract 加 base58 文本（省略前缀时须为 32 字节的哈希），或 token.iost 之类的系统合约',
    },
    pattern: `^(?:${SYSTEM}|${USER_CONTRACT}|${BARE_CONTRACT})$`,
    example: 'token.iost',
    read: contractOf,
  })

export const hash = (of: 'block' | 'transaction') =>
  word<string>({
    type: 'string',
    description:
      of === 'block'
        ? { en: 'Hash of the block.', zh: '区块哈希。' }
        : { en: 'Hash of the transaction.', zh: '交易哈希。' },
    rule: {
      en: 'a hash (32 bytes in base58, usually 43 or 44 characters)',
      zh: '哈希，即 32 字节的 base58 文本，通常为 43 或 44 个字符',
    },
    pattern: `^${BASE58}{32,44}$`,
    example:
      of === 'block'
        ? '8psW23ozxC4SjoXeD2DSPWBNzR3Re9a3ei9Vu1C49sQg'
        : '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp',
    read: text => (isHash(text) ? text : undefined),
  })

/** A block number. Beyond any chain's height it is still a number: the block is then unknown. */
export const number = () =>
  word<bigint>({
    type: 'integer',
    description: { en: 'Block number (height).', zh: '区块高度。' },
    rule: { en: 'a whole number of at most 19 digits', zh: '不超过 19 位的非负整数' },
    pattern: `^${NUMBER}$`,
    minimum: 0,
    example: '4851',
    read: BigInt,
  })

/** Page from 1; 0 is read as 1. A page far beyond the end is an empty page, so it is never a double. */
const page = () =>
  word<bigint>({
    type: 'integer',
    description: { en: 'Page number, starting at 1; 0 is read as 1.', zh: '页码，从 1 开始；0 等同于 1。' },
    rule: { en: 'a whole number of at most 19 digits', zh: '不超过 19 位的非负整数' },
    pattern: `^${NUMBER}$`,
    minimum: 0,
    fallback: 1n,
    example: '1',
    read: text => BigInt(text) || 1n,
  })

/** Rows in a page. */
const size = () =>
  word<number>({
    type: 'integer',
    description: { en: 'Maximum rows per page.', zh: '每页最大行数。' },
    rule: { en: `a whole number from 1 to ${SIZE_MAX}`, zh: `1 至 ${SIZE_MAX} 的整数` },
    pattern: `^${NUMBER}$`,
    minimum: 1,
    maximum: SIZE_MAX,
    fallback: SIZE_DEFAULT,
    example: String(SIZE_DEFAULT),
    read: readSize,
  })

/** Page and size of a list that is given whole when neither is asked for. */
export const pageIfAsked = () =>
  Type.Optional(
    word<bigint>({
      type: 'integer',
      description: {
        en: 'Page number, starting at 1; 0 is read as 1. Without page and size, the complete list is returned.',
        zh: '页码，从 1 开始；0 等同于 1。不提供 page 和 size 时返回完整列表。',
      },
      rule: { en: 'a whole number of at most 19 digits', zh: '不超过 19 位的非负整数' },
      pattern: `^${NUMBER}$`,
      minimum: 0,
      example: '1',
      read: text => BigInt(text) || 1n,
    }),
  )
export const sizeIfAsked = () =>
  Type.Optional(
    word<number>({
      type: 'integer',
      description: {
        en: `Maximum rows per page; ${SIZE_DEFAULT} if only page is given. Without page and size, the complete list is returned.`,
        zh: `每页最大行数；只提供 page 时为 ${SIZE_DEFAULT}。不提供 page 和 size 时返回完整列表。`,
      },
      rule: { en: `a whole number from 1 to ${SIZE_MAX}`, zh: `1 至 ${SIZE_MAX} 的整数` },
      pattern: `^${NUMBER}$`,
      minimum: 1,
      maximum: SIZE_MAX,
      example: String(SIZE_DEFAULT),
      read: readSize,
    }),
  )

export const sort = () =>
  word<'asc' | 'desc'>({
    type: 'string',
    description: {
      en: 'desc returns the newest first, asc the exact reverse.',
      zh: 'desc 最新的在前；asc 顺序完全相反。',
    },
    rule: { en: 'desc or asc', zh: 'desc 或 asc' },
    pattern: '^(?:asc|desc)$',
    values: ['desc', 'asc'],
    fallback: 'desc',
    example: 'desc',
    read: text => (text === 'asc' ? 'asc' : 'desc'),
  })

export const actionName = () =>
  Type.Optional(
    word<string>({
      type: 'string',
      description: {
        en: 'Return only rows of this action of the contract.',
        zh: '只返回该合约此方法的记录。',
      },
      rule: {
        en: 'an action name (1 to 32 characters of A-Z, a-z, 0-9 and _)',
        zh: '方法名，由 1 至 32 个 A-Z、a-z、0-9、_ 字符组成',
      },
      pattern: '^[A-Za-z0-9_]{1,32}$',
      example: 'transfer',
      read: same,
    }),
  )

/** A contract id, with or without its prefix. */
const contractOf = (text: string): string | undefined => {
  if (isContractId(text)) return text
  return isHash(text) ? `Contract${text}` : undefined
}

const readSize = (text: string): number | undefined => {
  const value = BigInt(text)
  return value >= 1n && value <= BigInt(SIZE_MAX) ? Number(value) : undefined
}

/** Page and size of every paged list. */
export const paging = { page: page(), size: size() }
