/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getTokenList } from '#actions/get-account.ts'
import { getContractActivity } from '#actions/get-activity.ts'
import { getAccountBalance } from '#actions/get-balance.ts'
import { getContractAbi, getContractCode, getContractDetail, getContractTx } from '#actions/get-contract.ts'
import { isActionName } from '#chain/names.ts'
import { contractRecords } from '../download/downloads.ts'
import { catchNotFound } from '../find/known.ts'
import { formatTitle } from '../find/labels.ts'
import { nameArguments, parseParameterNames } from '../format/arguments.ts'
import { CONTRACT_FIELDS, listFieldNames, readGivenFields } from '../format/field.ts'
import { actionText, cutWord, revealInvisible } from '../format/text.ts'
import { limitText } from '../format/transaction.ts'
import { formatPagePath, formatStoragePath, isNarrowed, PAGING, toHref } from '../links.ts'
import type { Html, Page, Props, Redirect, Visit } from '../page.ts'
import { None, When } from '../part/amount.tsx'
import { Filters } from '../part/form.tsx'
import { OwnTokens } from '../part/holdings.tsx'
import { FirstRows } from '../part/list.tsx'
import { Heading, Name, Owner } from '../part/name.tsx'
import { Activity } from '../part/plot.tsx'
import { RecordList, readGivenPart } from '../part/records.tsx'
import { Card, Facts, Fold } from '../part/section.tsx'
import { ChainText, Code, Folded, isRaw, rawText } from '../part/text.tsx'

type CodeAnswer = AnswerOf<typeof getContractCode>

/** Maximum characters of code on the page, so that a page with highlighted code stays small enough to load at once. */
const MAX_CODE = 16_384

/** The contract's answer. An id without a deployed contract to which tokens were sent redirects to its balances. */
async function askContractDetail(visit: Visit): Promise<AnswerOf<typeof getContractDetail> | Redirect> {
  const detail = visit.ask(getContractDetail, { contract: visit.id })
  const found = await catchNotFound(detail)
  if (found !== undefined) return found
  const owner = await catchNotFound(visit.ask(getAccountBalance, { account: visit.id }))
  // The failure of the contract's call explains why there is none.
  return owner === undefined ? detail : { to: formatPagePath('account', owner.name) }
}

/** Filters of the records that their plot cannot have. */
const OTHER_FILTERS = listFieldNames(CONTRACT_FIELDS).filter(name => name !== 'action_name')

/** A contract: its origin, its actions, and its records. */
export const contractPage: Page = {
  path: '/contract/{id}',
  fields: CONTRACT_FIELDS,
  show: async visit => {
    const { say } = visit
    const detail = await askContractDetail(visit)
    if ('to' in detail) return detail
    const { contract_id: contract } = detail
    const code = await visit.ask(getContractCode, { contract })
    if (isRaw(visit) && code.code !== '') return rawText(contract, code.code, 'plain')
    const filters = readGivenFields(visit, CONTRACT_FIELDS)
    const { action_name } = filters
    const [{ abis }, records, activity, held] = await Promise.all([
      visit.ask(getContractAbi, { contract }),
      visit.ask(getContractTx, { contract, ...filters, ...readGivenPart(visit) }),
      // It counts the records of one action or of all, and would contradict any other selection.
      isNarrowed(visit, OTHER_FILTERS)
        ? undefined
        : visit.ask(getContractActivity, { contract, ...(action_name === undefined ? {} : { action_name }) }),
      catchNotFound(visit.ask(getTokenList, { account: contract })),
    ])
    const name = revealInvisible(contract)
    const kind = say({ en: 'Contract', zh: '合约' })
    return {
      title: `${kind} ${formatTitle(visit, contract)}`,
      path: formatPagePath('contract', contract),
      isMinor: isNarrowed(visit, [...listFieldNames(CONTRACT_FIELDS), ...PAGING]),
      description: say({
        en: `Contract ${name} on IOST: publisher, ABI, code, tokens and all records.`,
        zh: `IOST 合约 ${name}：部署者、ABI、代码、代币与全部记录。`,
      }),
      body: (
        <>
          <Heading visit={visit} kind={kind} id={contract} />
          <About visit={visit} detail={detail} code={code} isHolding={held !== undefined} />
          <Abi visit={visit} contract={contract} abis={abis} code={code} />
          <Records
            visit={visit}
            records={records}
            names={abis.map(each => each.name).filter(isActionName)}
            contract={contract}
          >
            {activity === undefined ? '' : <Activity visit={visit} days={activity.days} />}
          </Records>
          {held !== undefined && held.tokens.length !== 0 && (
            <OwnTokens visit={visit} account={contract} tokens={held.tokens} />
          )}
          {code.code !== '' && (
            <Folded
              visit={visit}
              id="code"
              title={{ en: 'Code', zh: '代码' }}
              text={code.code}
              most={MAX_CODE}
              show={beginning => <Code text={beginning} language={code.language} />}
            />
          )}
        </>
      ),
    }
  },
}

type AboutProps = {
  readonly visit: Visit
  readonly detail: AnswerOf<typeof getContractDetail>
  readonly code: CodeAnswer
  /** Whether the contract ever held or moved tokens. */
  readonly isHolding: boolean
}

function About({ visit, detail, code, isHolding }: AboutProps): Html {
  const { say } = visit
  return (
    <section class="card">
      <Facts
        visit={visit}
        facts={[
          ['Publisher', '部署者', <Owner visit={visit} id={detail.publisher} />],
          ['Deployed', '部署时间', <When visit={visit} iso={detail.created_at} />],
          ['Transaction', '交易', <Name visit={visit} kind="tx" id={detail.tx_hash} isWhole />],
          code.tx_hash !== '' &&
            code.tx_hash !== detail.tx_hash && [
              'Code last changed',
              '代码最近更新',
              <Name visit={visit} kind="tx" id={code.tx_hash} isWhole />,
            ],
          code.code !== '' && [
            'Language and version',
            '语言与版本',
            // The publisher chooses both texts.
            <ChainText visit={visit} text={`${code.language} ${code.version}`} isProse />,
          ],
          [
            'Holdings',
            '持有',
            isHolding ? (
              <a href={toHref(visit, formatPagePath('account', detail.contract_id))} safe>
                {say({ en: 'Balance and movements →', zh: '余额与变动 →' })}
              </a>
            ) : (
              <None />
            ),
          ],
          visit.storage !== undefined && [
            'Storage',
            '存储',
            <a href={toHref(visit, formatStoragePath(detail.contract_id))} safe>
              {say({ en: 'Read values by key →', zh: '按键读取 →' })}
            </a>,
          ],
        ]}
      />
    </section>
  )
}

type RecordsProps = {
  readonly visit: Visit
  readonly records: AnswerOf<typeof getContractTx>
  /** The actions to choose from in the filter. */
  readonly names: readonly string[]
  readonly contract: string
  readonly children: Html
}

function Records({ visit, records, names, contract, children }: RecordsProps): Html {
  return (
    <Card visit={visit} id="records" title={{ en: 'Records', zh: '记录' }}>
      {children as 'safe'}
      <Filters visit={visit} fields={CONTRACT_FIELDS} choices={{ action_name: { choices: names } }} />
      <RecordList visit={visit} file={contractRecords} id={contract} listed={records} live="records" />
    </Card>
  )
}

type AbiProps = {
  readonly visit: Visit
  readonly contract: string
  readonly abis: AnswerOf<typeof getContractAbi>['abis']
  readonly code: AnswerOf<typeof getContractCode>
}

/** Maximum number of actions, and of arguments per action, on a page. */
const MAX = 100
/** Maximum number of actions of a list that is initially open. */
const OPEN = 12

/** The actions of a contract, each with a link to its records. */
function Abi({ visit, contract, abis, code }: AbiProps): Html {
  const { say } = visit
  const known = parseParameterNames(code.code)
  const listArguments = (name: string, types: readonly string[]): string =>
    formatArguments(types, nameArguments({ contract, action_name: name }, { types, names: known.get(name) ?? [] }))
  return (
    <Fold
      visit={visit}
      id="abi"
      title={{ en: `Actions (ABI): ${abis.length}`, zh: `方法（ABI）：${abis.length}` }}
      isOpen={abis.length <= OPEN}
    >
      <FirstRows
        visit={visit}
        rows={abis}
        most={MAX}
        none={{ en: 'No actions.', zh: '没有方法。' }}
        columns={[
          ['Action', '方法', ({ name }) => <ActionName visit={visit} name={name} />],
          ['Arguments', '参数', ({ name, args }) => <code safe>{listArguments(name, args)}</code>],
          [
            'Spending limit',
            '授权限额',
            ({ amount_limit }) => (
              <span safe>
                {amount_limit
                  .slice(0, MAX)
                  .map(limit => limitText(limit, say))
                  .join(', ')}
              </span>
            ),
          ],
        ]}
      />
    </Fold>
  )
}

/** The name of an action, with a link to its records. */
const ActionName = ({ visit, name }: Props<{ name: string }>): Html => (
  <span class="what">
    {isActionName(name) ? (
      <a href={toHref(visit, `${visit.path}?${new URLSearchParams({ action_name: name })}`)} rel="nofollow">
        <bdi safe>{name}</bdi>
      </a>
    ) : (
      <bdi safe>{actionText(name)}</bdi>
    )}
  </span>
)

/** The arguments with their types, such as `from: string, amount: string`, or only the types. */
const formatArguments = (types: readonly string[], names: readonly string[]): string =>
  types
    .slice(0, MAX)
    .map((type, at) => [names[at], type].flatMap(word => (word === undefined ? [] : [cutWord(word)])).join(': '))
    .join(', ')
