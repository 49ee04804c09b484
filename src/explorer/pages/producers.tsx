/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import { getOverview } from '#actions/get-overview.ts'
import { getProducerList } from '#actions/get-producer.ts'
import { producerFile } from '../download/downloads.ts'
import { countDecimals, formatCountedNoun, sortByDecimal } from '../format/amount.ts'
import { APPROVED, profileText } from '../format/state.ts'
import { cut, revealInvisible } from '../format/text.ts'
import { isNarrowed, toHref } from '../links.ts'
import type { Html, Page, Props, Visit } from '../page.ts'
import { Amount, Change, Count, None } from '../part/amount.tsx'
import { Files } from '../part/files.tsx'
import {
  type Column,
  findPageInstead,
  formatPageNumberPath,
  Pager,
  Rows,
  readGivenPage,
  selectPageRows,
} from '../part/list.tsx'
import { Name } from '../part/name.tsx'
import { ProducerStatus } from '../part/producer.tsx'
import { Figures, Note } from '../part/section.tsx'
import { Share } from '../part/share.tsx'
import { ExternalLink } from '../part/text.tsx'

export const producersPage: Page = {
  path: '/producers',
  show: async visit => {
    const { say } = visit
    const [{ all_votes }, all] = await Promise.all([visit.ask(getOverview), allProducers(visit)])
    const total = all.length
    const last = findPageInstead(visit, readGivenPage(visit), { total })
    if (last !== undefined) return { to: formatPageNumberPath(visit, last) }
    const { figure } = selectOrder(visit)
    const producers = selectPageRows(visit, figure === undefined ? all : sortByDecimal(all, figure))
    const approved = all.filter(({ status }) => status === APPROVED).length
    const title = say({ en: 'Producers', zh: '生产者' })
    return {
      title,
      description: say({
        en: `The ${formatCountedNoun(total, 'block producer')} of IOST by rank, with votes, blocks made and location.`,
        zh: `IOST 的 ${total} 个生产者（出块节点）：排名、票数、出块数与地区。`,
      }),
      isMinor: isNarrowed(visit, ['page', 'by']),
      body: (
        <>
          <h1 safe>{title}</h1>
          <section class="card">
            <Figures
              visit={visit}
              facts={[
                ['Registered', '已注册', <Count value={approved} />],
                approved < total && [
                  'Waiting, leaving or removed',
                  '等待批准、申请退出或已移除',
                  <Count value={total - approved} />,
                ],
                ['Total votes', '总票数', <Amount visit={visit} value={all_votes} token="iost" />],
              ]}
            />
          </section>
          <section class="card">
            <Files visit={visit} file={producerFile} total={total} />
            <Orders visit={visit} />
            <Rows
              visit={visit}
              rows={producers}
              none={{ en: 'No producers.', zh: '没有生产者。' }}
              columns={buildColumns(visit, producers, all_votes)}
            />
            <Note
              visit={visit}
              text={{
                en: 'Rewards count once they are withdrawn. What waits to be withdrawn is on the page of each producer.',
                zh: '奖励在领取后才计入；尚未领取的数额见各生产者的页面。',
              }}
            />
            <Pager visit={visit} total={total} />
          </section>
        </>
      ),
    }
  },
}

type Row = AnswerOf<typeof getProducerList>['producers'][number]

type Order = {
  /** Its name in the address; `""`: the default. */
  readonly by: string
  readonly name: Text
  /** The decimal by which rows are sorted, in descending order; absent: rows stay in the order of their rank. */
  readonly figure?: (row: Row) => string | number
}

const RANK: Order = { by: '', name: { en: 'Rank', zh: '排名' } }

const ORDERS: readonly Order[] = [
  RANK,
  { by: 'change', name: { en: '7-day change', zh: '近 7 天变化' }, figure: row => row.votes_change_7d },
  { by: 'voters', name: { en: 'Voters', zh: '投票者数' }, figure: row => row.voter_count },
  { by: 'blocks', name: { en: 'Blocks made', zh: '出块数' }, figure: row => row.block_count },
  { by: 'rewards', name: { en: 'Rewards received', zh: '已获奖励' }, figure: row => row.received_award },
]

const selectOrder = ({ query }: Pick<Visit, 'query'>): Order => ORDERS.find(({ by }) => by === query.get('by')) ?? RANK

/** Links to the orders of the list. */
function Orders({ visit }: { readonly visit: Visit }): Html {
  const { say, path } = visit
  const selected = selectOrder(visit)
  return (
    <nav class="sorts" aria-label={say({ en: 'Order', zh: '排序' })}>
      <span safe>{say({ en: 'Sort by: ', zh: '排序：' })}</span>
      {ORDERS.map(order => (
        <>
          {' '}
          <a
            href={toHref(visit, order.by === '' ? path : `${path}?by=${order.by}`)}
            aria-current={order === selected ? 'true' : undefined}
            safe
          >
            {say(order.name)}
          </a>
        </>
      ))}
    </nav>
  )
}

/** Rows of a call for all producers, the API's maximum. */
const SIZE = 500

/** All producers by rank; the page counts those that are approved. */
async function allProducers(visit: Visit): Promise<readonly Row[]> {
  const all: Row[] = []
  for (let page = 1, total = 1; all.length < total; page++) {
    const answer = await visit.ask(getProducerList, { page: String(page), size: String(SIZE) })
    if (answer.producers.length === 0) break
    all.push(...answer.producers)
    total = answer.total
  }
  return all
}

function buildColumns(visit: Visit, producers: readonly Row[], all_votes: string): readonly Column<Row>[] {
  const decimals = countDecimals(producers.map(({ votes }) => votes))
  const changed = countDecimals(producers.map(each => each.votes_change_7d))
  return [
    ['Rank', '排名', row => <Count value={row.ranking} />],
    ['Producer', '生产者', row => <Known visit={visit} row={row} />, 'lead'],
    ['Status', '状态', row => <ProducerStatus visit={visit} of={row} />, 'end'],
    ['Location and site', '地区与网址', row => <Where row={row} />, 'bare'],
    ['Blocks made, rewards received', '出块数与已获奖励', row => <Made visit={visit} row={row} />, 'digits'],
    [
      'Votes and 7-day change (IOST)',
      '票数与近 7 天变化（IOST）',
      row => <Voted row={row} decimals={decimals} changed={changed} />,
      'digits',
    ],
    ['Share of votes, voters', '得票率与投票者数', row => <Supported row={row} all_votes={all_votes} />, 'digits'],
  ]
}

type CellProps = Props<{ row: Row }>

const Made = ({ visit, row }: CellProps): Html => (
  <span class="stack">
    <Count value={row.block_count} />
    <small>
      <Amount visit={visit} value={row.received_award} token="iost" />
    </small>
  </span>
)

type VotedProps = Pick<CellProps, 'row'> & {
  /** Decimals of votes and of their changes. */
  readonly decimals: number
  readonly changed: number
}

const Voted = ({ row, decimals, changed }: VotedProps): Html => (
  <span class="stack">
    <Count value={row.votes} decimals={decimals} />
    <small>
      <Change value={row.votes_change_7d} decimals={changed} />
    </small>
  </span>
)

const Supported = ({ row, all_votes }: Pick<CellProps, 'row'> & { readonly all_votes: string }): Html => (
  <span class="stack">
    <Share part={row.votes} whole={all_votes} />
    <small>
      <Count value={row.voter_count} />
    </small>
  </span>
)

function Known({ visit, row }: CellProps): Html {
  const alias = profileText(visit.lang, row.alias, row.alias_en)
  return (
    <span class="stack">
      <Name visit={visit} kind="producer" id={row.account} />
      {alias !== '' && <small safe>{revealInvisible(alias)}</small>}
    </span>
  )
}

/** Maximum length of a location in a row. The producer's page shows all of it. */
const MAX_PLACE = 80

const Where = ({ row: { loc, url } }: { readonly row: Row }): Html =>
  loc === '' && url === '' ? (
    <None />
  ) : (
    <span class="stack where">
      <bdi safe>{cut(loc, MAX_PLACE)}</bdi>
      {url !== '' && (
        <small>
          <ExternalLink url={url} />
        </small>
      )}
    </span>
  )
