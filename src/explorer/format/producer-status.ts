import type { Text } from '#actions/text.ts'

/** The status fields in a producer's answers. */
type ProducerStatus = { readonly isProducer: boolean; readonly online: boolean }

/** Whether a producer is a candidate, and online. */
export const producerStatusOf = ({ isProducer, online }: ProducerStatus): Text => {
  if (!isProducer) return { en: 'Not a candidate', zh: '非候选人' }
  return online ? { en: 'Online', zh: '在线' } : { en: 'Offline', zh: '离线' }
}
