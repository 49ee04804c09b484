/** @jsxImportSource @kitajs/html */
import type { AnswerOf, CallParameters } from '#actions/ask.ts'
import { getAccountTx } from '#actions/get-account-tx.ts'
import { isActionName, isContractId, isSystemContract } from '#chain/names.ts'
import { ACCOUNT_FILTERS, accountRecords } from '../download/records.ts'
import type { Recorded } from '../format/record.ts'
import type { Html, Visit } from '../page.ts'
import { Card } from './card.tsx'
import { Files } from './files.tsx'
import { type Field, Filters, filtersGiven, rangeFields } from './filters.tsx'
import { Pager, pageGiven } from './pager.tsx'
import { RecordRows } from './record-rows.tsx'

type Records = AnswerOf<typeof getAccountTx>

/** The records that the address asks for: parameters and answer of the API. */
export type AskedRecords = {
  readonly given: CallParameters & { readonly account: string }
  /** undefined: filters are given that the API does not combine, and the form says so. */
  readonly answer: Records | undefined
}

/** The page of an account's records that the address asks for. */
export const recordsAsked = async (visit: Visit, account: string): Promise<AskedRecords> => {
  const filters = filtersGiven(visit, ACCOUNT_FILTERS)
  const given = { account, ...filters }
  // The API has lists for each of them; what it searches for has no pages that one can leaf through.
  const isOne =
    ACCOUNT_FILTERS.filter(name => name in filters).length <= 1 && filters['token']?.includes(',') !== true
  return {
    given,
    answer: isOne ? await visit.ask(getAccountTx, { ...given, ...pageGiven(visit) }) : undefined,
  }
}

type AccountRecordsProps = {
  readonly visit: Visit
  readonly asked: AskedRecords
  /** Tokens that the filter offers. */
  readonly tokens: readonly string[]
  /** Stands above the filters. */
  readonly children: Html
}

/** The records of an account that pass the filters. */
export const AccountRecords = ({
  visit,
  asked: { given, answer },
  tokens,
  children,
}: AccountRecordsProps): Html => {
  const { say } = visit
  return (
    <Card title={say({ en: 'Records: payments and calls', zh: '记录：收付款与方法调用' })}>
      {children as 'safe'}
      <Filters visit={visit} fields={fieldsOf(visit, tokens, answer?.transactions ?? [])} />
      <Files visit={visit} file={accountRecords} id={given.account} total={answer?.total ?? undefined} />
      {answer === undefined ? (
        <p class="warn" role="alert" safe>
          {say({
            en: '“Token”, “Called action” and “Failed only” cannot be combined: use one of them, with any period.',
            zh: '“代币”“调用的方法”与“只看失败”不能同时使用：请只填其中一项，可与任意区间搭配。',
          })}
        </p>
      ) : (
        <>
          <RecordRows visit={visit} rows={answer.transactions} owner={given.account} live="records" />
          <Pager visit={visit} total={answer.total ?? 0} />
        </>
      )}
    </Card>
  )
}

/** Choices that a filter offers. */
const MOST_CHOICES = 50

/** The usual calls of system contracts. */
const USUAL = [
  ...['transfer', 'transferFreeze', 'issue', 'destroy'].map(name => `token.iost/${name}`),
  ...['pledge', 'unpledge'].map(name => `gas.iost/${name}`),
  ...['buy', 'sell', 'lend'].map(name => `ram.iost/${name}`),
  ...['vote', 'unvote', 'voterWithdraw'].map(name => `vote_producer.iost/${name}`),
  ...['auth.iost/signUp', 'system.iost/setCode', 'system.iost/updateCode'],
]

const fieldsOf = (visit: Visit, tokens: readonly string[], rows: readonly Recorded[]): readonly Field[] => {
  const { say } = visit
  // A row names its contract only where the contract is the recipient.
  const seen = rows
    .filter(({ to, action_name }) => isContractId(to) && !isSystemContract(to) && isActionName(action_name))
    .map(({ to, action_name }) => `${to}/${action_name}`)
  return [
    {
      name: 'token',
      label: say({ en: 'Token', zh: '代币' }),
      type: 'text',
      choices: tokens.slice(0, MOST_CHOICES),
    },
    {
      name: 'func_name',
      label: say({ en: 'Called action', zh: '调用的方法' }),
      type: 'text',
      choices: [...new Set([...seen, ...USUAL])],
    },
    ...rangeFields(visit),
    { name: 'failed', label: say({ en: 'Failed only', zh: '只看失败' }), type: 'checkbox' },
  ]
}
