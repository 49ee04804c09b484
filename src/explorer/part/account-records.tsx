/** @jsxImportSource @kitajs/html */
import type { AnswerOf, CallParameters } from '#actions/ask.ts'
import { getAccountTx } from '#actions/get-account-tx.ts'
import type { Text } from '#actions/text.ts'
import { isActionName, isContractId, isPossibleName, isSystemContract } from '#chain/names.ts'
import { accountRecords } from '../download/records.ts'
import { partiesOf, type RecordRow, WAYS } from '../format/record.ts'
import type { Html, Visit } from '../page.ts'
import { Card } from './card.tsx'
import { Files } from './files.tsx'
import { Filters } from './filters.tsx'
import { ACCOUNT_FIELDS, fieldsGiven } from './form-fields.ts'
import { partGiven, RecordPager } from './found-records.tsx'
import { RecordRows } from './record-rows.tsx'

type Records = AnswerOf<typeof getAccountTx>

/** The records of the address: parameters and answer of the API. */
export type RecordsRequest = {
  readonly given: CallParameters & { readonly account: string }
  /** The answer, or the reason why no row can match these filters. */
  readonly answer: Records | Text
}

/** The requested page of an account's records. */
export const requestedRecords = async (visit: Visit, account: string): Promise<RecordsRequest> => {
  const filters = fieldsGiven(visit, ACCOUNT_FIELDS)
  const given = { account, ...filters }
  const why = whyNone(filters)
  return { given, answer: why ?? (await visit.ask(getAccountTx, { ...given, ...partGiven(visit) })) }
}

/** The reason why no row can match filters together; undefined: rows can match. The API refuses such filters. */
const whyNone = (filters: CallParameters): Text | undefined => {
  const isMoving = filters['direction'] !== undefined || filters['token'] !== undefined
  if (!isMoving) return undefined
  if (filters['failed'] === '1')
    return {
      en: 'Failed transactions moved nothing: leave out “Failed only”, or direction and token.',
      zh: '失败的交易没有代币变动：请去掉“只看失败”，或去掉方向与代币。',
    }
  const func = filters['func_name']
  return func === undefined || func.startsWith('token.iost/')
    ? undefined
    : {
        en: 'Tokens moved by a call of this contract are listed in rows of their own: leave out the action, or direction and token.',
        zh: '该合约的调用所引起的代币变动另有记录：请去掉方法，或去掉方向与代币。',
      }
}

type AccountRecordsProps = {
  readonly visit: Visit
  readonly asked: RecordsRequest
  /** The tokens to choose from in the filter. */
  readonly tokens: readonly string[]
  /** The content above the filters. */
  readonly children: Html
}

/** The records of an account that match the filters. */
export const AccountRecords = ({ visit, asked: { given, answer }, tokens, children }: AccountRecordsProps): Html => {
  const { say } = visit
  return (
    <Card visit={visit} id="records" title={say({ en: 'Records: payments and calls', zh: '记录：收付款与方法调用' })}>
      {children as 'safe'}
      <Filters
        visit={visit}
        fields={ACCOUNT_FIELDS}
        choices={choicesFor(visit, given.account, { tokens, rows: rowsIn(answer) })}
      />
      {'transactions' in answer ? (
        <>
          <Files
            visit={visit}
            file={accountRecords}
            id={given.account}
            total={answer.total ?? null}
            hasRows={answer.transactions.length > 0}
          />
          <RecordRows
            visit={visit}
            rows={answer.transactions}
            isSearching={answer.next !== undefined}
            owner={given.account}
            live="records"
          />
          <RecordPager visit={visit} listed={answer} />
        </>
      ) : (
        <p class="warn" role="alert" data-live="records" safe>
          {say(answer)}
        </p>
      )}
    </Card>
  )
}

const rowsIn = (answer: Records | Text): readonly RecordRow[] => ('transactions' in answer ? answer.transactions : [])

/** Maximum number of choices of a filter. */
const MOST_CHOICES = 50

/** The common actions of system contracts. */
const USUAL = [
  ...['transfer', 'transferFreeze', 'issue', 'destroy'].map(name => `token.iost/${name}`),
  ...['pledge', 'unpledge'].map(name => `gas.iost/${name}`),
  ...['buy', 'sell', 'lend'].map(name => `ram.iost/${name}`),
  ...['vote', 'unvote', 'voterWithdraw'].map(name => `vote_producer.iost/${name}`),
  ...['auth.iost/signUp', 'system.iost/setCode', 'system.iost/updateCode'],
]

const choicesFor = (
  visit: Visit,
  account: string,
  { tokens, rows }: { readonly tokens: readonly string[]; readonly rows: readonly RecordRow[] },
) => {
  const { say } = visit
  // A row names its contract only if the contract is the recipient.
  const seen = rows
    .filter(({ to, action_name }) => isContractId(to) && !isSystemContract(to) && isActionName(action_name))
    .map(({ to, action_name }) => `${to}/${action_name}`)
  const parties = rows.flatMap(row => Object.values(partiesOf(row)))
  // An issue may name any text as its recipient, and the filter accepts names alone.
  const others = parties.filter(name => isPossibleName(name) && name !== account)
  const moved = rows.flatMap(({ token }) => (token === undefined ? [] : [token]))
  return {
    direction: {
      choices: ['in', 'out'],
      words: new Map([
        ['in', say(WAYS.in)],
        ['out', say(WAYS.out)],
      ]),
    },
    counterparty: { choices: [...new Set(others)].toSorted() },
    token: { choices: [...new Set(['iost', ...tokens.slice(0, MOST_CHOICES), ...moved])] },
    func_name: { choices: [...new Set([...seen, ...USUAL])] },
  }
}
