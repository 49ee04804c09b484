/** @jsxImportSource @kitajs/html */
import { getOverview } from '#actions/get-overview.ts'
import { getWealthList } from '#actions/get-wealth-list.ts'
import { decimalsOf } from '../format/amount.ts'
import type { Page } from '../page.ts'
import { Amount, Count, Place } from '../part/amount.tsx'
import { Card } from '../part/card.tsx'
import { Figures } from '../part/facts.tsx'
import { Owner } from '../part/name.tsx'
import { Pager, pageGiven, rankOf } from '../part/pager.tsx'
import { Rows } from '../part/rows.tsx'
import { Concentration, MOST_BANDED, Share } from '../part/share.tsx'

/** Who has how much IOST. */
export const wealthPage: Page = {
  path: '/wealth',
  show: async visit => {
    const { say } = visit
    const [{ circulating_supply }, { wealth, total }, { wealth: richest }] = await Promise.all([
      visit.ask(getOverview),
      visit.ask(getWealthList, pageGiven(visit)),
      visit.ask(getWealthList, { page: '1', size: String(MOST_BANDED) }),
    ])
    const places = {
      balance: decimalsOf(wealth.map(row => row.balance)),
      token: decimalsOf(wealth.map(row => row.token_balance)),
      vote: decimalsOf(wealth.map(row => row.vote_balance)),
      frozen: decimalsOf(wealth.map(row => row.frozen_balance)),
    }
    const title = say({ en: 'IOST rich list', zh: 'IOST 财富榜' })
    return {
      title,
      description: say({
        en: `The ${total} owners of IOST by what they have in all: available, voted and frozen.`,
        zh: `全部 ${total} 个 IOST 持有者，按总额（可用、投票与冻结）排列。`,
      }),
      isMinor: visit.query.has('page'),
      body: (
        <>
          <h1 safe>{title}</h1>
          <Card title={say({ en: 'Concentration', zh: '集中程度' })}>
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
              parts={richest.map(({ balance }) => balance)}
              whole={circulating_supply}
              total={total}
            />
          </Card>
          <section class="card">
            <Rows
              rows={wealth.map((row, at) => ({ ...row, rank: rankOf(visit, at) }))}
              none={say({ en: 'No owners.', zh: '没有持有者。' })}
              columns={[
                { head: say({ en: 'Rank', zh: '排名' }), cell: ({ rank }) => <Place value={rank} /> },
                {
                  head: say({ en: 'Owner', zh: '持有者' }),
                  place: 'lead',
                  cell: row => <Owner visit={visit} id={row.account} />,
                },
                {
                  head: say({ en: 'Total (IOST)', zh: '总额（IOST）' }),
                  isNumber: true,
                  place: 'end',
                  cell: row => <Count value={row.balance} decimals={places.balance} />,
                },
                {
                  head: say({ en: 'Available', zh: '可用' }),
                  isNumber: true,
                  cell: row => <Count value={row.token_balance} decimals={places.token} />,
                },
                {
                  head: say({ en: 'Voted', zh: '投票' }),
                  isNumber: true,
                  cell: row => <Count value={row.vote_balance} decimals={places.vote} />,
                },
                {
                  head: say({ en: 'Frozen', zh: '冻结' }),
                  isNumber: true,
                  cell: row => <Count value={row.frozen_balance} decimals={places.frozen} />,
                },
                {
                  head: say({ en: 'Share', zh: '占比' }),
                  isNumber: true,
                  cell: row => <Share part={row.balance} whole={circulating_supply} />,
                },
              ]}
            />
            <Pager visit={visit} total={total} />
          </section>
        </>
      ),
    }
  },
}
