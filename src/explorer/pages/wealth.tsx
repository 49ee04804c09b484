/** @jsxImportSource @kitajs/html */
import { getOverview, getWealthList, NOT_CIRCULATING } from '#actions/get-overview.ts'
import { wealthFile } from '../download/downloads.ts'
import { formatCountedNoun } from '../format/amount.ts'
import type { Html, Page, Props } from '../page.ts'
import { Amount, Count, None } from '../part/amount.tsx'
import { alignNumbers, createListPage, RANK_COLUMN, rankRows, readGivenPage } from '../part/list.tsx'
import { Owner } from '../part/name.tsx'
import { Card, Figures } from '../part/section.tsx'
import { Concentration, MAX_BANDED, Share } from '../part/share.tsx'

/** The owners of IOST, by total holdings. */
export const wealthPage: Page = {
  path: '/wealth',
  show: async visit => {
    const [{ circulating_supply: supply }, { wealth, total }, { wealth: richest }] = await Promise.all([
      visit.ask(getOverview),
      visit.ask(getWealthList, readGivenPage(visit)),
      visit.ask(getWealthList, { page: '1', size: String(MAX_BANDED) }),
    ])
    return createListPage(visit, {
      title: { en: 'IOST rich list', zh: 'IOST 财富榜' },
      description: {
        en: `The ${formatCountedNoun(total, 'owner')} of IOST by what they have in all: available, voted and frozen.`,
        zh: `全部 ${total} 个 IOST 持有者，按总额（可用、投票与冻结）排列。`,
      },
      lead: {
        en: 'Total: IOST available, in votes and frozen. IOST pledged for gas is not counted, nor is IOST that system contracts hold for others. Shares are of the circulating supply.',
        zh: '总额为可用、投票锁定与冻结的 IOST，不含 gas 质押，也不列出系统合约代他人持有的 IOST。占比按流通量计算。',
      },
      above: <Shares visit={visit} richest={richest} total={total} supply={supply} />,
      total,
      file: wealthFile,
      rows: rankRows(visit, wealth),
      none: { en: 'No owners.', zh: '没有持有者。' },
      columns: [
        RANK_COLUMN,
        ['Owner', '持有者', row => <Owner visit={visit} id={row.account} />, 'lead'],
        alignNumbers(wealth, [
          'Total without gas pledge (IOST)',
          '总额，不含 gas 质押（IOST）',
          row => row.balance,
          'end',
        ]),
        alignNumbers(wealth, ['Available', '可用', row => row.token_balance]),
        alignNumbers(wealth, ['Voted', '投票', row => row.vote_balance]),
        alignNumbers(wealth, ['Frozen', '冻结', row => row.frozen_balance]),
        [
          'Share of circulating supply',
          '占流通量',
          row => (isCirculating(row) ? <Share part={row.balance} whole={supply} /> : <None />),
          'digits',
        ],
      ],
    })
  },
}

type SharesProps = Props<{ richest: readonly { account: string; balance: string }[]; total: number; supply: string }>

/** How the circulating supply is spread among its owners. `richest`: the first of `total`. */
function Shares({ visit, richest, total, supply }: SharesProps): Html {
  const circulating = richest.filter(isCirculating)
  return (
    <Card visit={visit} id="shares" title={{ en: 'Shares of the circulating supply', zh: '占流通量的集中程度' }}>
      <Figures
        visit={visit}
        facts={[
          ['Circulating supply', '流通量', <Amount visit={visit} value={supply} token="iost" />],
          ['Owners', '持有者数', <Count value={total} />],
        ]}
      />
      <Concentration
        visit={visit}
        parts={circulating.map(({ balance }) => balance)}
        whole={supply}
        total={total - (richest.length - circulating.length)}
      />
    </Card>
  )
}

/** Burnt IOST have an owner, but are not part of the circulating supply. */
const isCirculating = ({ account }: { readonly account: string }): boolean => !NOT_CIRCULATING.includes(account)
