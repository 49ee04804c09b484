/** @jsxImportSource @kitajs/html */
import { getAccountAssets } from '#actions/get-account-assets.ts'
import { getProducerRegistration } from '#actions/get-producer-registration.ts'
import { counted } from '../format/counted.ts'
import { visible } from '../format/visible.ts'
import { pathOf } from '../links.ts'
import { isNarrowed } from '../narrowed.ts'
import type { Html, PageContent, Visit } from '../page.ts'
import { Amount, Count } from './amount.tsx'
import { Facts } from './facts.tsx'
import { Copied, Name } from './name.tsx'
import { None } from './none.tsx'
import { ReceivedRewards } from './received-rewards.tsx'
import { When } from './time.tsx'
import { askVoters, Voters } from './voters.tsx'

/**
 * The page of a producer that is no longer registered: the time of the end, and its remaining voters. Throws
 * Failure for any other account.
 */
export const formerProducer = async (visit: Visit): Promise<PageContent> => {
  const { say, id: producer } = visit
  const [former, voting, assets] = await Promise.all([
    visit.ask(getProducerRegistration, { producer }),
    askVoters(visit),
    visit.ask(getAccountAssets, { account: producer }),
  ])
  const name = visible(former.account)
  return {
    path: pathOf('producer', former.account),
    title: say({ en: `Former producer ${name}`, zh: `前生产者 ${name}` }),
    description: say({
      en: `Former IOST block producer ${name}: when it was unregistered, and its ${counted(voting.total, 'voter')}.`,
      zh: `IOST 前生产者 ${name}：注销时间与 ${voting.total} 个投票者。`,
    }),
    isMinor: isNarrowed(visit, ['page']),
    body: (
      <>
        <h1>
          <small safe>{say({ en: 'Former producer', zh: '前生产者' })}</small>
          <bdi safe>{name}</bdi>
        </h1>
        <section class="card">
          <Facts
            facts={[
              [say({ en: 'Account', zh: '账户' }), <Name visit={visit} kind="account" id={former.account} />],
              [
                say({ en: 'Status', zh: '状态' }),
                <span class="badge warn" safe>
                  {say({ en: 'Not registered', zh: '已注销' })}
                </span>,
              ],
              [say({ en: 'Unregistered', zh: '注销时间' }), <Since visit={visit} former={former} />],
              [
                say({ en: 'Remaining votes', zh: '剩余票数' }),
                <Amount visit={visit} value={former.votes} token="iost" />,
              ],
              [say({ en: 'Blocks made', zh: '出块数' }), <Count value={former.block_count} />],
              [
                say({ en: 'Rewards received', zh: '已获奖励' }),
                <ReceivedRewards visit={visit} received={former.received_award} assets={assets} />,
              ],
              [say({ en: 'Last signing key', zh: '最后的签名公钥' }), <Copied visit={visit} text={former.pubkey} />],
            ]}
          />
        </section>
        <Voters visit={visit} voting={voting} votes={former.votes} />
      </>
    ),
  }
}

type SinceProps = {
  readonly visit: Visit
  readonly former: { readonly unregistered_at?: string; readonly unregistered_block?: number }
}

const Since = ({ visit, former: { unregistered_at, unregistered_block } }: SinceProps): Html =>
  unregistered_at === undefined || unregistered_block === undefined ? (
    <None />
  ) : (
    <>
      <When visit={visit} iso={unregistered_at} />{' '}
      <small>
        <span safe>{visit.say({ en: 'in block ', zh: '区块 ' })}</span>
        <Name visit={visit} kind="block" id={unregistered_block} />
      </small>
    </>
  )
