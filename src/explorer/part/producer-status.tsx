/** @jsxImportSource @kitajs/html */
import { APPROVED, producerStatusOf, type StatusOfProducer } from '../format/producer-status.ts'
import type { Html, Visit } from '../page.ts'

type ProducerStatusProps = { readonly visit: Pick<Visit, 'say'>; readonly of: StatusOfProducer }

/** Whether a producer is approved, a candidate, and online. */
export const ProducerStatus = ({ visit: { say }, of }: ProducerStatusProps): Html => (
  <span class={`badge ${chooseTone(of)}`.trimEnd()} safe>
    {say(producerStatusOf(of))}
  </span>
)

function chooseTone({ status, isProducer, online }: StatusOfProducer): string {
  if (status !== APPROVED) return 'warn'
  if (!isProducer) return ''
  return online ? 'good' : 'warn'
}
