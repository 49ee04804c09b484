/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getAccountAssets } from '#actions/get-account-assets.ts'
import type { Html, Visit } from '../page.ts'
import { Amount, Count } from './amount.tsx'

type ReceivedRewardsProps = {
  readonly visit: Visit
  /** Received by the producer. */
  readonly received: string
  readonly assets: AnswerOf<typeof getAccountAssets>
}

/** The rewards that a producer received, and the one that it has not withdrawn yet. */
export const ReceivedRewards = ({ visit, received, assets }: ReceivedRewardsProps): Html => {
  const { say } = visit
  const { producer_reward: waiting } = assets.iost
  const all = <Amount visit={visit} value={received} token="iost" />
  if (waiting === '0') return all
  return (
    <span class="stack">
      {all as 'safe'}
      <small>
        {waiting === null ? (
          <span safe>{say({ en: 'not yet withdrawn: not known', zh: '尚未领取的无法得知' })}</span>
        ) : (
          <>
            <span safe>{say({ en: 'not yet withdrawn: ', zh: '尚未领取：' })}</span>
            <Count value={waiting} />
          </>
        )}
      </small>
    </span>
  )
}
