import { Type } from '@sinclair/typebox'
import { formatUnits, trimZeros } from '#chain/amount.ts'
import { Exact } from '#chain/json.ts'
import type { HeadBlock } from '#head/head-state.ts'
import type { ProducerDoc } from '#indices/producer.ts'
import type { TokenDoc } from '#indices/token.ts'
import { flag, HEAD_ONLY, text } from './results.ts'

/** IOST, votes and pledges are stored in 10^-8. */
const IOST_DECIMALS = 8
/** Gas is stored × 100. */
const GAS_DECIMALS = 2

/** Smallest units as a number in token units. */
export const toAmount = (units: bigint, decimals: number): Exact => new Exact(formatUnits(units, decimals))
/** 10^-8 IOST as a number of IOST. */
export const toIost = (units: bigint): Exact => toAmount(units, IOST_DECIMALS)
/** Gas × 100 as a number of gas. */
export const toGas = (units: bigint): Exact => toAmount(units, GAS_DECIMALS)
/** Nanoseconds since 1970 as a number. */
export const toTime = (ns: bigint): Exact => new Exact(String(ns))

/**
 * The text of a JSON number without exponent and with the same value: `1.5e-7` → `0.00000015`. Text that is
 * not in exponent form is returned unchanged.
 */
export function plainNumber(text: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(text)
  if (parts === null) return text
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  const shift = Number(exponent)
  // Larger exponents would make a text longer than any figure of the chain: int64 and doubles near it.
  if (Math.abs(shift) > 400) return text
  const digits = whole + fraction
  const point = whole.length + shift
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0')
  const at = Math.max(point, 1)
  const fractional = trimZeros(padded.slice(at))
  const integral = padded.slice(0, at).replace(/^0+(?=\d)/, '')
  return `${sign}${integral}${fractional === '' ? '' : `.${fractional}`}`
}

/** A double as the chain computes it: the shortest text that parses to the same double, without exponent. */
export const toDouble = (value: number): Exact => new Exact(Number.isFinite(value) ? plainNumber(String(value)) : '0')

/** The node's words for the status of a producer in vote_producer.iost, by their numbers. */
const STATUSES = ['APPLY', 'APPROVED', 'UNAPPLY', 'UNAPPLY_APPROVED']

/** The status of a producer's registration, in the node's word. */
export function nameProducerStatus({ status }: Pick<ProducerDoc, 'status'>): string {
  return STATUSES[status] ?? String(status)
}

const MEANING = {
  en: 'Status of the registration: APPLY (not approved yet), APPROVED, UNAPPLY (asked to leave) or UNAPPLY_APPROVED (the administrators approved that, or removed the producer; it makes no more blocks).',
  zh: '注册状态：APPLY（尚未批准）、APPROVED（已批准）、UNAPPLY（已申请退出）或 UNAPPLY_APPROVED（管理员已批准其退出，或已将其移除；不再出块）。',
}

/** The field `status` of a registered producer. */
export const producerStatus = () => text(MEANING.en, MEANING.zh)

/** The same of a producer that may no longer be registered. */
export const producerStatusIfRegistered = () =>
  text(`${MEANING.en} Absent if the producer is not registered.`, `${MEANING.zh}已注销时没有此字段。`)

/** Fields about the right to transfer a token, set permanently when it is created. */
export const transferability = {
  can_transfer: flag('Whether the token can be transferred.', '是否可转账。'),
  only_issuer_can_transfer: flag(
    "Whether every transfer needs the issuer's permission.",
    '每次转账是否都须发行者授权。',
  ),
}

type Transferability = Pick<TokenDoc, keyof typeof transferability>

/** `transferability` of a token. */
export const toTransferability = ({ can_transfer, only_issuer_can_transfer }: Transferability): Transferability => ({
  can_transfer,
  only_issuer_can_transfer,
})

const headOnly = (en: string, zh: string) => Type.Optional({ ...text(en, zh), [HEAD_ONLY]: true })

/** Fields that rows have only with `head=1`. */
export const headFields = () => ({
  id: headOnly(
    'Only with head=1: names the row and its block, before the block is irreversible and after. A row of another block in its place has another id.',
    '仅在 head=1 时出现：标识该行及其所在区块，在区块变为不可逆前后保持不变。取代它的其他区块中的记录有不同的 id。',
  ),
  status: headOnly(
    'Only with head=1: PACKED while the block of the row may still be replaced, otherwise IRREVERSIBLE.',
    '仅在 head=1 时出现：所在区块仍可能被替换时为 PACKED，否则为 IRREVERSIBLE。',
  ),
})

/** The status of a row; `above`: its block, if that is not yet irreversible. */
export const toRowStatus = (above: HeadBlock | undefined): 'PACKED' | 'IRREVERSIBLE' =>
  above === undefined ? 'IRREVERSIBLE' : 'PACKED'
