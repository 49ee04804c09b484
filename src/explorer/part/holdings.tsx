/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getAccountBalance } from '#actions/get-account-balance.ts'
import { isoOf } from '../format/time.ts'
import { type PledgedGas, sumPledgesOfOthers, totalsOf } from '../format/total.ts'
import type { Html, Visit } from '../page.ts'
import { Amount, Count } from './amount.tsx'
import { Figures } from './facts.tsx'
import { More } from './more.tsx'
import { Owner } from './name.tsx'
import { Rows } from './rows.tsx'
import { At } from './time.tsx'

/** A gas pledge: the account that benefits, and the amount. */
export type Pledge = { readonly pledger: string; readonly amount: string }

type Balance = AnswerOf<typeof getAccountBalance>

type HoldingsProps = {
  readonly visit: Visit
  readonly balance: Balance
  /** undefined: the owner is no account. */
  readonly gas: PledgedGas | undefined
}

/** Maximum number of frozen amounts, and of pledges, on a page. */
const MOST = 12
/** Maximum length of a list that is initially open. */
const OPEN = 5

/** The IOST of an owner: the available amount, and the locked amounts with their times. */
export const Holdings = ({ visit, balance, gas }: HoldingsProps): Html => {
  const { say } = visit
  const pledges = gas?.pledged_info ?? []
  const byOthers = gas === undefined ? '0' : sumPledgesOfOthers(balance.name, gas)
  const { frozen_balance: frozen, vote_balance: voted } = balance
  const iost = (value: string): Html => <Amount visit={visit} value={value} token="iost" />
  const { pledged, ranked, all } = totalsOf(balance, pledges)
  return (
    <section class="card holdings">
      <Figures
        facts={[
          [say({ en: 'Available', zh: '可用' }), iost(balance.balance)],
          [say({ en: 'Frozen', zh: '冻结' }), iost(frozen.total)],
          [say({ en: 'In votes', zh: '投票锁定' }), iost(voted.total)],
          [
            say({ en: 'Pledged for gas', zh: 'gas 质押' }),
            byOthers === '0' ? (
              iost(pledged)
            ) : (
              <span class="stack">
                {iost(pledged)}
                <small>
                  <span safe>{say({ en: 'others pledged for it ', zh: '他人为其质押 ' })}</span>
                  <Count value={byOthers} />
                </small>
              </span>
            ),
          ],
          [
            say({ en: 'Total', zh: '合计' }),
            pledges.length === 0 ? (
              iost(all)
            ) : (
              <span class="stack">
                {iost(all)}
                <small>
                  <Count value={ranked} />
                  <span safe>{say({ en: ' without the gas pledge', zh: '（不含 gas 质押）' })}</span>
                </small>
              </span>
            ),
          ],
        ]}
      />
      {frozen.list.length !== 0 && <Frozen visit={visit} list={frozen.list} />}
      {pledges.length !== 0 && <Pledges visit={visit} pledges={pledges} />}
    </section>
  )
}

type FrozenProps = { readonly visit: Visit; readonly list: Balance['frozen_balance']['list'] }

const Frozen = ({ visit, list }: FrozenProps): Html => (
  <details class="inner" open={list.length <= OPEN}>
    <summary safe>{visit.say({ en: `Frozen amounts: ${list.length}`, zh: `冻结：${list.length} 笔` })}</summary>
    <Rows
      visit={visit}
      rows={list.slice(0, MOST)}
      columns={[
        ['Frozen (IOST)', '冻结（IOST）', ({ amount }) => <Count value={amount} />],
        ['Until', '解冻时间', ({ time }) => <At iso={isoOf(time)} />, { place: 'end' }],
      ]}
    />
    <More visit={visit} shown={MOST} total={list.length} />
  </details>
)

type PledgesProps = { readonly visit: Visit; readonly pledges: readonly Pledge[] }

const Pledges = ({ visit, pledges }: PledgesProps): Html => (
  <details class="inner" open={pledges.length <= OPEN}>
    <summary safe>{visit.say({ en: `Gas pledges: ${pledges.length}`, zh: `gas 质押：${pledges.length} 笔` })}</summary>
    <Rows
      visit={visit}
      rows={pledges.slice(0, MOST)}
      columns={[
        ['Pledged (IOST)', '质押（IOST）', ({ amount }) => <Count value={amount} />],
        ['For the gas of', '受益账户', ({ pledger }) => <Owner visit={visit} id={pledger} />],
      ]}
    />
    <More visit={visit} shown={MOST} total={pledges.length} />
  </details>
)
