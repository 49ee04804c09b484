/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getBlockList } from '#actions/get-block.ts'
import { getDailyStatistics, getOverview } from '#actions/get-overview.ts'
import { getTransactionList } from '#actions/get-transaction.ts'
import { toIso } from '#chain/time.ts'
import { countOwnTransactions, formatCountedNoun, formatGrouped } from '../format/amount.ts'
import { chainDays, type Daily, toDailySeries } from '../format/period.ts'
import { toHref } from '../links.ts'
import type { Html, Page, Props, Visit } from '../page.ts'
import { Ago, Amount, Count, None, Place } from '../part/amount.tsx'
import { Rows } from '../part/list.tsx'
import { Plot } from '../part/plot.tsx'
import { Card, type Fact, Figures } from '../part/section.tsx'
import { createBlockTable, createTransactionTable } from '../part/transactions.tsx'

const LATEST = { page: '1', size: '10' } as const

export const homePage: Page = {
  path: '/',
  show: async visit => {
    const { say } = visit
    const [overview, { days }, { blocks }, { transactions }] = await Promise.all([
      visit.ask(getOverview),
      visit.ask(getDailyStatistics),
      visit.ask(getBlockList, LATEST),
      visit.ask(getTransactionList, LATEST),
    ])
    const tps = computeRate(blocks)
    return {
      title: say({ en: 'IOST blockchain explorer', zh: 'IOST 区块链浏览器' }),
      description: say({
        en: 'Blocks, transactions, accounts, tokens, contracts and producers of the IOST blockchain, every number exact.',
        zh: 'IOST 区块链的区块、交易、账户、代币、合约与生产者，数据精确完整。',
      }),
      body: (
        <>
          <h1 safe>{say({ en: 'The IOST blockchain', zh: 'IOST 区块链' })}</h1>
          <section class="card" data-live="figures">
            <Figures visit={visit} facts={listFacts(visit, overview, tps)} />
          </section>
          <Daily30 visit={visit} days={chainDays(days)} />
          <div class="pair">
            <Card
              visit={visit}
              id="blocks"
              title={{ en: 'Latest blocks', zh: '最新区块' }}
              aside={<All visit={visit} path="/blocks" />}
            >
              <Rows visit={visit} rows={blocks} {...createBlockTable(visit, true)} />
            </Card>
            <Card
              visit={visit}
              id="transactions"
              title={{ en: 'Latest transactions', zh: '最新交易' }}
              aside={<All visit={visit} path="/transactions" />}
            >
              <Rows visit={visit} rows={transactions} {...createTransactionTable(visit, { isNarrow: true })} />
            </Card>
          </div>
        </>
      ),
    }
  },
}

/** The fields of a block that determine the rate. */
type Made = { readonly number: string | number; readonly time: string; readonly tx_count: number }

/**
 * Transactions per second between the first and the last of some consecutive blocks, newest first, with one
 * decimal. The base transaction of each block does not count. undefined: no time passed.
 */
function computeRate(blocks: readonly Made[]): string | undefined {
  const [newest] = blocks
  const oldest = blocks.at(-1)
  if (newest === undefined || oldest === undefined) return undefined
  const seconds = Number((BigInt(newest.time) - BigInt(oldest.time)) / 1_000_000n) / 1_000
  if (seconds <= 0) return undefined
  const made = blocks
    .slice(0, -1)
    .reduce((sum, { number, tx_count }) => sum + countOwnTransactions(Number(number), tx_count), 0)
  return (made / seconds).toFixed(1)
}

type Overview = AnswerOf<typeof getOverview>

function listFacts(visit: Visit, overview: Overview, tps: string | undefined): readonly Fact[] {
  const { say, at } = visit
  const { usd_price } = overview
  const ahead = BigInt(overview.head_block) - BigInt(at.height)
  const blocks = formatGrouped(String(ahead))
  return [
    [
      'Irreversible block',
      '不可逆区块',
      <span class="stack">
        <Count value={at.height} />
        <small>
          <Ago visit={visit} iso={toIso(at.time)} />
        </small>
      </span>,
    ],
    [
      'Head block',
      '链头区块',
      // The head is above the last irreversible block, so equal heights mean that no node answered.
      ahead <= 0n ? (
        <None />
      ) : (
        <span class="stack">
          <Count value={overview.head_block} />
          <small safe>
            {say({ en: `${formatCountedNoun(String(ahead), 'block')} ahead`, zh: `领先 ${blocks} 个区块` })}
          </small>
        </span>
      ),
    ],
    [
      'Transactions per second',
      '每秒交易数',
      <span class="stack">
        {tps === undefined ? <None /> : <Place value={tps} />}
        <small safe>{say({ en: `highest ${overview.highest_tps}`, zh: `最高 ${overview.highest_tps}` })}</small>
      </span>,
    ],
    ['Accounts', '账户', <Count value={overview.account_count} />],
    ['Contracts', '合约', <Count value={overview.contract_count} />],
    ['Tokens', '代币', <Count value={overview.token_count} />],
    [
      'Circulating supply',
      '流通量',
      <span class="stack">
        <Amount visit={visit} value={overview.circulating_supply} token="iost" />
        {usd_price !== null && (
          <small>
            <span safe>{say({ en: 'at USD', zh: '单价（美元）' })}</span> <Count value={usd_price} />
          </small>
        )}
      </span>,
    ],
    ['Votes', '总票数', <Amount visit={visit} value={overview.all_votes} token="iost" />],
  ]
}

const All = ({ visit, path }: Props<{ path: string }>): Html => (
  <a href={toHref(visit, path)} safe>
    {visit.say({ en: 'All →', zh: '全部 →' })}
  </a>
)

function Daily30({ visit, days }: Props<{ days: readonly Daily[] }>): Html {
  const title = { en: 'Transactions per day', zh: '每日交易数' }
  return (
    <Card
      visit={visit}
      id="transactions-per-day"
      title={title}
      aside={
        <a href={toHref(visit, '/statistics/transactions')} safe>
          {visit.say({ en: 'By day →', zh: '按日查看 →' })}
        </a>
      }
    >
      <Plot visit={visit} title={title} series={toDailySeries(days, 'transactions')} />
    </Card>
  )
}
