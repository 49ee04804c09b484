import type { Text } from '#actions/define.ts'
import type { PageKind } from '../links.ts'
import type { Lang } from '../page.ts'
import { revealInvisible } from './text.ts'

/** The status fields in a producer's answers. `status`: the node's word. */
export type StatusOfProducer = { readonly status: string; readonly isProducer: boolean; readonly online: boolean }

/** The status of a producer that was approved, by the node's word. */
export const APPROVED = 'APPROVED'

/** Statuses of producers that are not approved, or no longer. */
const OTHERS: ReadonlyMap<string, Text> = new Map([
  ['APPLY', { en: 'Waiting for approval', zh: '等待批准' }],
  ['UNAPPLY', { en: 'Asked to leave', zh: '已申请退出' }],
  ['UNAPPLY_APPROVED', { en: 'Removed by the administrators', zh: '已由管理员移除' }],
])

/** Whether a producer is approved, a candidate, and online. */
export function describeProducerStatus({ status, isProducer, online }: StatusOfProducer): Text {
  if (status !== APPROVED) return OTHERS.get(status) ?? { en: revealInvisible(status), zh: revealInvisible(status) }
  if (!isProducer) return { en: 'Not a candidate', zh: '非候选人' }
  return online ? { en: 'Online', zh: '在线' } : { en: 'Offline', zh: '离线' }
}

/** A text of the operator's profile file in the visitor's language, or in the other language if it is missing. */
export const profileText = (lang: Lang, chinese: string, english: string): string =>
  lang === 'zh' ? chinese || english : english || chinese

const DAYS_OF_RETURN = 30n
const NS_PER_DAY = 86_400_000_000_000n
const NS_PER_MS = 1_000_000n

/**
 * Whether rewards have been paid for the 30 days from which an annual return is extrapolated.
 * @param since time of the first reward, ISO-8601 UTC; undefined: there is none yet.
 * @param now time of the last block, nanoseconds since 1970.
 */
export function hasDaysOfReturn(since: string | undefined, now: bigint): boolean {
  return since !== undefined && now - BigInt(Date.parse(since)) * NS_PER_MS >= DAYS_OF_RETURN * NS_PER_DAY
}

/** The transfer fields in a token's answers. */
type Transferability = { readonly can_transfer: boolean; readonly only_issuer_can_transfer: boolean }

/** The permission that transfers of a token need, in words. */
export function describeTransferability({ can_transfer, only_issuer_can_transfer }: Transferability): Text {
  if (!can_transfer) return { en: 'Not allowed', zh: '不允许' }
  return only_issuer_can_transfer
    ? { en: "Only with the issuer's permission", zh: '须发行者授权' }
    : { en: 'Allowed', zh: '允许' }
}

/** Text of the footer for data from a node. `height`: the node's last irreversible block, if the data are as of it. */
export const describeNodeOrigin = (height?: number): Text =>
  height === undefined
    ? {
        en: 'From a node; not in an irreversible block when this page was made.',
        zh: '数据来自全节点；生成本页时尚未进入不可逆区块。',
      }
    : {
        en: `From a node, as of irreversible block ${height}.`,
        zh: `数据来自全节点，截至不可逆区块 ${height}。`,
      }

/** The same for a block or transaction with this status; undefined: it is stored, and of the height of its page. */
export function describeBlockOrigin(
  at: { readonly height: number },
  { status, height }: { readonly status: string; readonly height: number },
): Text | undefined {
  if (status !== 'IRREVERSIBLE') return describeNodeOrigin()
  return height > at.height ? describeNodeOrigin(height) : undefined
}

const KINDS: ReadonlyMap<string, { readonly kind: PageKind; readonly en: string; readonly zh: string }> = new Map([
  ['account', { kind: 'account', en: 'Account', zh: '账户' }],
  ['block', { kind: 'block', en: 'Block', zh: '区块' }],
  ['transaction', { kind: 'tx', en: 'Transaction', zh: '交易' }],
  ['contract', { kind: 'contract', en: 'Contract', zh: '合约' }],
  ['token', { kind: 'token', en: 'Token', zh: '代币' }],
  ['producer', { kind: 'producer', en: 'Producer', zh: '生产者' }],
  ['collection', { kind: 'nft', en: 'NFT collection', zh: 'NFT 合集' }],
])

/** The kind of a match's page, and the name of the kind. */
export const getMatchKind = (type: string) => KINDS.get(type) ?? { kind: 'account' as const, en: type, zh: type }
