/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getTokenList } from '#actions/get-token-list.ts'
import { grouped } from '../format/amount.ts'
import { isoOf } from '../format/time.ts'
import { hrefTo, pathOfBalance } from '../links.ts'
import type { Html, Visit } from '../page.ts'
import { Count } from './amount.tsx'
import { Fold } from './fold.tsx'
import { More } from './more.tsx'
import { Name } from './name.tsx'
import { None } from './none.tsx'
import { Rows } from './rows.tsx'
import { ChainText } from './text.tsx'
import { At } from './time.tsx'

type Owned = AnswerOf<typeof getTokenList>['tokens'][number]

type OwnTokensProps = {
  readonly visit: Visit
  readonly account: string
  readonly tokens: readonly Owned[]
}

/** Maximum number of tokens on a page: anyone can send thousands of tokens to an account. */
const MOST = 50

/** Maximum length of a list that is initially open. */
const OPEN = 6

/** The tokens of an owner. */
export const OwnTokens = ({ visit, account, tokens }: OwnTokensProps): Html => {
  const { say } = visit
  const all = grouped(String(tokens.length))
  return (
    <Fold
      visit={visit}
      id="tokens"
      title={say({ en: `Tokens: ${all}`, zh: `代币：${all} 种` })}
      isOpen={tokens.length <= OPEN}
    >
      <Rows
        visit={visit}
        rows={tokens.slice(0, MOST)}
        none={{ en: 'No tokens.', zh: '没有代币。' }}
        columns={[
          [
            'Token',
            '代币',
            ({ symbol, full_name }) =>
              full_name === '' || full_name === symbol ? (
                <Name visit={visit} kind="token" id={symbol} />
              ) : (
                <span class="stack">
                  <Name visit={visit} kind="token" id={symbol} />
                  <small>
                    <ChainText visit={visit} text={full_name} isProse />
                  </small>
                </span>
              ),
          ],
          [
            'Available',
            '可用',
            ({ balance, symbol }) => (
              <a href={hrefTo(visit, pathOfBalance(account, symbol))}>
                <Count value={balance} />
              </a>
            ),
            { isNumber: true, place: 'end' },
          ],
          ['Frozen', '冻结', token => <Frozen visit={visit} token={token} />, { isNumber: true }],
        ]}
      />
      <More visit={visit} shown={MOST} total={tokens.length} />
    </Fold>
  )
}

/** Maximum number of frozen amounts of a token with their times. */
const MOST_TIMES = 3

/** The frozen amounts of a token, and the end of each freeze. */
const Frozen = ({ visit, token }: { readonly visit: Visit; readonly token: Owned }): Html => {
  const { frozen_balance, frozen_list: parts } = token
  const { say } = visit
  if (!/[1-9]/.test(frozen_balance)) return <None />
  return (
    <span class="stack">
      <Count value={frozen_balance} />
      {parts.slice(0, MOST_TIMES).map(({ amount, time }) => (
        <small>
          {parts.length !== 1 && <Count value={amount} />} <span safe>{say({ en: 'until', zh: '冻结至' })}</span>{' '}
          <At iso={isoOf(time)} />
        </small>
      ))}
      {parts.length > MOST_TIMES && (
        <small safe>{say({ en: `${parts.length} amounts in all`, zh: `共 ${parts.length} 笔` })}</small>
      )}
    </span>
  )
}
