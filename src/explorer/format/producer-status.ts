import type { Text } from '#actions/text.ts'
import { visible } from './visible.ts'

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
export const producerStatusOf = ({ status, isProducer, online }: StatusOfProducer): Text => {
  if (status !== APPROVED) return OTHERS.get(status) ?? { en: visible(status), zh: visible(status) }
  if (!isProducer) return { en: 'Not a candidate', zh: '非候选人' }
  return online ? { en: 'Online', zh: '在线' } : { en: 'Offline', zh: '离线' }
}
