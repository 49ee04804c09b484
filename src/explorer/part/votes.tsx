/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'
import { Amount } from './amount.tsx'
import { Card } from './card.tsx'
import { More } from './more.tsx'
import { Name } from './name.tsx'
import { Rows } from './rows.tsx'

type VotesProps = {
  readonly visit: Visit
  readonly votes: readonly { readonly option: string; readonly votes: string }[]
}

/** Producers that a page shows. */
const MOST = 30

/** The producers that an owner votes for, largest first. */
export const Votes = ({ visit, votes }: VotesProps): Html => {
  const { say } = visit
  return (
    <Card title={say({ en: 'Votes', zh: '投票' })}>
      <Rows
        rows={votes.slice(0, MOST)}
        none=""
        columns={[
          {
            head: say({ en: 'Producer', zh: '生产者' }),
            cell: ({ option }) => <Name visit={visit} kind="producer" id={option} />,
          },
          {
            head: say({ en: 'Votes', zh: '票数' }),
            place: 'end',
            isNumber: true,
            cell: row => <Amount visit={visit} value={row.votes} token="iost" />,
          },
        ]}
      />
      <More visit={visit} shown={MOST} total={votes.length} />
    </Card>
  )
}
