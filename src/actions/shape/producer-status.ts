import type { ProducerDoc } from '#indices/producer.ts'
import { text } from './results.ts'

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
