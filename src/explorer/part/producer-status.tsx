/** @jsxImportSource @kitajs/html */
import { producerStatusOf } from '../format/producer-status.ts'
import type { Html, Visit } from '../page.ts'

type ProducerStatusProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly isProducer: boolean
  readonly online: boolean
}

/** Whether a producer is a candidate, and online. */
export const ProducerStatus = ({ visit: { say }, isProducer, online }: ProducerStatusProps): Html => (
  <span class={isProducer ? `badge ${online ? 'good' : 'warn'}` : 'badge'} safe>
    {say(producerStatusOf({ isProducer, online }))}
  </span>
)
