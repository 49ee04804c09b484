/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getBalances } from '#actions/get-balances.ts'
import { getProducerVoter } from '#actions/get-producer-voter.ts'
import { voterFile } from '../download/states.ts'
import { decimalsOf } from '../format/amount.ts'
import type { Html, Visit } from '../page.ts'
import { Count, Place } from './amount.tsx'
import { Card } from './card.tsx'
import { Files } from './files.tsx'
import { Owner } from './name.tsx'
import { None } from './none.tsx'
import { Pager, pageGiven, rankOf } from './pager.tsx'
import { type Column, Rows } from './rows.tsx'
import { Share } from './share.tsx'

type Row = AnswerOf<typeof getProducerVoter>['voters'][number] & {
  readonly rank: number
  readonly held: NonNullable<AnswerOf<typeof getBalances>['balances'][number]> | undefined
}

/** Voters of a producer, and the number of all voters. */
type Voting = { readonly rows: readonly Row[]; readonly total: number }

/** The voters of a page's producer, largest first, with their balances. */
export const askVoters = async (visit: Visit): Promise<Voting> => {
  const { voters, total } = await visit.ask(getProducerVoter, { producer: visit.id, ...pageGiven(visit) })
  const accounts = voters.map(({ account }) => account).join(',')
  const { balances } = voters.length === 0 ? { balances: [] } : await visit.ask(getBalances, { accounts })
  const rows = voters.map((row, at) => ({ ...row, rank: rankOf(visit, at), held: balances[at] ?? undefined }))
  return { rows, total }
}

type VotersProps = {
  readonly visit: Visit
  readonly voting: Voting
  /** All votes of the producer. */
  readonly votes: string
}

/** A table of voters. */
export const Voters = ({ visit, voting: { rows, total }, votes }: VotersProps): Html => {
  const { say } = visit
  return (
    <Card visit={visit} id="voters" title={say({ en: 'Voters, largest first', zh: '投票者（按票数降序）' })}>
      <Files visit={visit} file={voterFile} id={visit.id} total={total} />
      <Rows
        visit={visit}
        rows={rows}
        none={{ en: 'No voters.', zh: '没有投票者。' }}
        columns={columnsFor(visit, rows, votes)}
      />
      <Pager visit={visit} total={total} />
    </Card>
  )
}

const columnsFor = (visit: Visit, rows: readonly Row[], votes: string): readonly Column<Row>[] => {
  const amounts = (of: (row: Row) => string | undefined): Column<Row>[2] => {
    const decimals = decimalsOf(rows.map(row => of(row) ?? ''))
    return row => {
      const value = of(row)
      return value === undefined ? <None /> : <Count value={value} decimals={decimals} />
    }
  }
  return [
    ['Rank', '排名', ({ rank }) => <Place value={rank} />],
    ['Voter', '投票者', row => <Owner visit={visit} id={row.account} />, { place: 'lead' }],
    ['Votes (IOST)', '所投票数（IOST）', amounts(row => row.votes), { isNumber: true, place: 'end' }],
    ['Share of votes', '占比', row => <Share part={row.votes} whole={votes} />, { isNumber: true }],
    ['Available (IOST)', '可用余额（IOST）', amounts(row => row.held?.balance), { isNumber: true }],
    ['Frozen (IOST)', '冻结（IOST）', amounts(row => row.held?.frozen_balance), { isNumber: true }],
  ]
}
