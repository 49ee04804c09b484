/** @jsxImportSource @kitajs/html */
import { standingOf } from '../format/standing.ts'
import type { Html, Visit } from '../page.ts'

type StandingProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly isProducer: boolean
  readonly online: boolean
}

/** Whether a producer is a candidate, and takes part at the moment. */
export const Standing = ({ visit: { say }, isProducer, online }: StandingProps): Html => (
  <span class={isProducer ? `badge ${online ? 'good' : 'warn'}` : 'badge'} safe>
    {say(standingOf({ isProducer, online }))}
  </span>
)
