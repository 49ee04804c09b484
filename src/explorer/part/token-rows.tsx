/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getTokenList } from '#actions/get-token-list.ts'
import type { Html, Visit } from '../page.ts'
import { Amount } from './amount.tsx'
import { Card } from './card.tsx'
import { More } from './more.tsx'
import { Rows } from './rows.tsx'
import { ChainText } from './text.tsx'

type OwnTokensProps = {
  readonly visit: Visit
  readonly tokens: AnswerOf<typeof getTokenList>['tokens']
}

/** Tokens that a page shows; somebody may send thousands of kinds to anybody. */
const MOST = 50

/** The tokens that an owner has. */
export const OwnTokens = ({ visit, tokens }: OwnTokensProps): Html => {
  const { say } = visit
  return (
    <Card title={say({ en: 'Tokens', zh: '代币' })}>
      <Rows
        rows={tokens.slice(0, MOST)}
        none={say({ en: 'No tokens.', zh: '没有代币。' })}
        columns={[
          {
            head: say({ en: 'Token', zh: '代币' }),
            cell: ({ full_name }) => <ChainText visit={visit} text={full_name} />,
          },
          {
            head: say({ en: 'Available', zh: '可用' }),
            isNumber: true,
            cell: ({ balance, symbol }) => <Amount visit={visit} value={balance} token={symbol} />,
          },
          {
            head: say({ en: 'Frozen', zh: '冻结' }),
            isNumber: true,
            cell: ({ frozen_balance, symbol }) => (
              <Amount visit={visit} value={frozen_balance} token={symbol} />
            ),
          },
        ]}
      />
      <More visit={visit} shown={MOST} total={tokens.length} />
    </Card>
  )
}
