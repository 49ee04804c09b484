/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getOverview, NOT_CIRCULATING } from '#actions/get-overview.ts'
import { getWealthList } from '#actions/get-wealth-list.ts'
import { wealthFile } from '../download/downloads.ts'
import { counted, decimalsOf } from '../format/amount.ts'
import { isNarrowed } from '../links.ts'
import type { Html, Page, Visit } from '../page.ts'
import { Amount, Count, None, Place } from '../part/amount.tsx'
import { Files, Pager, pageGiven, rankOf } from '../part/list.tsx'
import { Owner } from '../part/name.tsx'
import { Card, Figures } from '../part/section.tsx'
import { Concentration, MOST_BANDED, Share } from '../part/share.tsx'
import { Rows } from '../part/table.tsx'

/** The owners of IOST, by total holdings. */
export const wealthPage: Page = {
  path: '/wealth',
  show: async visit => {
    const { say } = visit
    const [{ circulating_supply }, { wealth, total }, { wealth: richest }] = await Promise.all([
      visit.ask(getOverview),
      visit.ask(getWealthList, pageGiven(visit)),
      visit.ask(getWealthList, { page: '1', size: String(MOST_BANDED) }),
    ])
    const circulating = richest.filter(isCirculating)
    const title = say({ en: 'IOST rich list', zh: 'IOST 财富榜' })
    return {
      title,
      description: say({
        en: `The ${counted(total, 'owner')} of IOST by what they have in all: available, voted and frozen.`,
        zh: `全部 ${total} 个 IOST 持有者，按总额（可用、投票与冻结）排列。`,
      }),
      isMinor: isNarrowed(visit, ['page']),
      body: (
        <>
          <h1 safe>{title}</h1>
          <p class="about" safe>
            {say({
              en: 'Total: IOST available, in votes and frozen. IOST pledged for gas is not counted, nor is IOST that system contracts hold for others. Shares are of the circulating supply.',
              zh: '总额为可用、投票锁定与冻结的 IOST，不含 gas 质押，也不列出系统合约代他人持有的 IOST。占比按流通量计算。',
            })}
          </p>
          <Card
            visit={visit}
            id="shares"
            title={say({ en: 'Shares of the circulating supply', zh: '占流通量的集中程度' })}
          >
            <Figures
              facts={[
                [
                  say({ en: 'Circulating supply', zh: '流通量' }),
                  <Amount visit={visit} value={circulating_supply} token="iost" />,
                ],
                [say({ en: 'Owners', zh: '持有者数' }), <Count value={total} />],
              ]}
            />
            <Concentration
              visit={visit}
              parts={circulating.map(({ balance }) => balance)}
              whole={circulating_supply}
              total={total - (richest.length - circulating.length)}
            />
          </Card>
          <RichList visit={visit} rows={wealth} total={total} supply={circulating_supply} />
        </>
      ),
    }
  },
}

type Row = AnswerOf<typeof getWealthList>['wealth'][number]

type RichListProps = {
  readonly visit: Visit
  readonly rows: readonly Row[]
  readonly total: number
  /** The circulating supply. */
  readonly supply: string
}

/** A table of owners. */
const RichList = ({ visit, rows, total, supply }: RichListProps): Html => {
  const places = {
    balance: decimalsOf(rows.map(row => row.balance)),
    token: decimalsOf(rows.map(row => row.token_balance)),
    vote: decimalsOf(rows.map(row => row.vote_balance)),
    frozen: decimalsOf(rows.map(row => row.frozen_balance)),
  }
  return (
    <section class="card">
      <Files visit={visit} file={wealthFile} total={total} />
      <Rows
        visit={visit}
        rows={rows.map((row, at) => ({ ...row, rank: rankOf(visit, at) }))}
        none={{ en: 'No owners.', zh: '没有持有者。' }}
        columns={[
          ['Rank', '排名', ({ rank }) => <Place value={rank} />],
          ['Owner', '持有者', row => <Owner visit={visit} id={row.account} />, { place: 'lead' }],
          [
            'Total without gas pledge (IOST)',
            '总额，不含 gas 质押（IOST）',
            row => <Count value={row.balance} decimals={places.balance} />,
            { isNumber: true, place: 'end' },
          ],
          ['Available', '可用', row => <Count value={row.token_balance} decimals={places.token} />, { isNumber: true }],
          ['Voted', '投票', row => <Count value={row.vote_balance} decimals={places.vote} />, { isNumber: true }],
          ['Frozen', '冻结', row => <Count value={row.frozen_balance} decimals={places.frozen} />, { isNumber: true }],
          [
            'Share of circulating supply',
            '占流通量',
            row => (isCirculating(row) ? <Share part={row.balance} whole={supply} /> : <None />),
            { isNumber: true },
          ],
        ]}
      />
      <Pager visit={visit} total={total} />
    </section>
  )
}

/** Burnt IOST have an owner, but are not part of the circulating supply. */
const isCirculating = ({ account }: { readonly account: string }): boolean => !NOT_CIRCULATING.includes(account)
