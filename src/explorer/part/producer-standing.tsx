/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'

type StandingProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly isProducer: boolean
  readonly online: boolean
}

/** Whether a producer is a candidate, and takes part at the moment. */
export const Standing = ({ visit: { say }, isProducer, online }: StandingProps): Html => {
  if (!isProducer)
    return (
      <span class="badge" safe>
        {say({ en: 'Not a candidate', zh: '非候选' })}
      </span>
    )
  return online ? (
    <span class="badge good" safe>
      {say({ en: 'Online', zh: '在线' })}
    </span>
  ) : (
    <span class="badge warn" safe>
      {say({ en: 'Offline', zh: '离线' })}
    </span>
  )
}
