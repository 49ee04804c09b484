/** @jsxImportSource @kitajs/html */
import type { AnswerOf, CallParameters } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import { getAccountDetail, getSubaccountList, getTokenList } from '#actions/get-account.ts'
import { getAccountTx } from '#actions/get-account-tx.ts'
import { getAccountActivity } from '#actions/get-activity.ts'
import { getAccountBalance } from '#actions/get-balance.ts'
import { getAccountNfts } from '#actions/get-nft.ts'
import { getProducerRegistration } from '#actions/get-producer.ts'
import { isAccountName, isActionName, isContractId, isPossibleName, isSystemContract } from '#chain/names.ts'
import { accountRecords, subAccountFile } from '../download/downloads.ts'
import { MAX_ROWS } from '../download/file.ts'
import { catchNotFound } from '../find/known.ts'
import { formatTitle } from '../find/labels.ts'
import { formatGrouped } from '../format/amount.ts'
import { ACCOUNT_FIELDS, listFieldNames, readGivenFields } from '../format/field.ts'
import { getRowParties, type RecordRow, WAYS } from '../format/record.ts'
import { revealInvisible } from '../format/text.ts'
import { describeHoldings } from '../format/transaction.ts'
import { formatPagePath, isNarrowed, PAGING, toHref } from '../links.ts'
import type { Html, Page, Props, Visit } from '../page.ts'
import { Ago, Amount } from '../part/amount.tsx'
import { AllChanges, BalanceOverTime, findFirstChange, readBalanceHistory } from '../part/balance.tsx'
import { Files } from '../part/files.tsx'
import { Filters } from '../part/form.tsx'
import { Holdings, OwnTokens, Resources, readEarnerAssets, Withdrawable } from '../part/holdings.tsx'
import { type Column, FirstRows, More, Rows } from '../part/list.tsx'
import { Heading, Name, NftName, QrCode } from '../part/name.tsx'
import { Activity } from '../part/plot.tsx'
import { RecordList, readGivenPart } from '../part/records.tsx'
import { Card } from '../part/section.tsx'
import { ChainText } from '../part/text.tsx'

/** Parameters that select some of the records. */
const FILTERS = listFieldNames(ACCOUNT_FIELDS)

/** An owner: its balances, its records, and the permissions for it. */
export const accountPage: Page = {
  path: '/account/{id}',
  fields: ACCOUNT_FIELDS,
  show: async visit => {
    const { say } = visit
    const [balance, first] = await Promise.all([
      visit.ask(getAccountBalance, { account: visit.id }),
      findFirstChange(visit, { account: visit.id, token: 'iost' }),
    ])
    // The address may contain a contract's id without its prefix.
    const { name: account } = balance
    const ifAccount = async <T,>(ask: () => Promise<T>): Promise<T | undefined> =>
      isAccountName(account) ? catchNotFound(ask()) : undefined
    const votes = balance.vote_balance.list
    const registration = ifAccount(() => visit.ask(getProducerRegistration, { producer: account }))
    const [detail, { tokens }, owned, records, activity, created, producer, assets, history] = await Promise.all([
      ifAccount(() => visit.ask(getAccountDetail, { account })),
      visit.ask(getTokenList, { account }),
      visit.ask(getAccountNfts, { account, page: '1', size: String(MAX_NFTS) }),
      requestedRecords(visit, account),
      // It counts all records, so it would contradict a list of some of them.
      isNarrowed(visit, FILTERS) ? undefined : visit.ask(getAccountActivity, { account }),
      ifAccount(() => visit.ask(getSubaccountList, { account, page: '1', size: String(MAX_CREATED) })),
      registration,
      readEarnerAssets(visit, account, { isVoter: votes.length > 0, producer: registration }),
      first === undefined ? undefined : readBalanceHistory(visit, { account, token: 'iost' }, first),
    ])
    const kind = say(ownerKind(account, detail !== undefined))
    return {
      title: `${kind} ${formatTitle(visit, account)}`,
      isMinor: isNarrowed(visit, [...FILTERS, ...PAGING]),
      path: formatPagePath('account', account),
      description: say(describeHoldings(revealInvisible(account), balance, detail?.gas_info.pledged_info ?? [])),
      body: (
        <>
          <Heading visit={visit} kind={kind} id={account} />
          <QrCode visit={visit} text={account} />
          <RelatedPage visit={visit} account={account} producer={producer} />
          <Holdings visit={visit} balance={balance} gas={detail?.gas_info} />
          <Withdrawable visit={visit} frozen={balance.frozen_balance.list} assets={assets} />
          {history !== undefined && (
            <BalanceOverTime
              visit={visit}
              history={history}
              token="iost"
              aside={<AllChanges visit={visit} of={{ account, token: 'iost' }} />}
            />
          )}
          <OwnTokens visit={visit} account={account} tokens={tokens} />
          <OwnNfts visit={visit} nfts={owned.nfts} total={owned.total ?? 0} />
          <AccountRecords visit={visit} asked={records} tokens={tokens.map(({ symbol }) => symbol)}>
            {activity === undefined ? '' : <Activity visit={visit} days={activity.days} />}
          </AccountRecords>
          {detail !== undefined && <Resources visit={visit} detail={detail} />}
          {votes.length !== 0 && <Votes visit={visit} votes={votes} />}
          {created !== undefined && created.total !== 0 && (
            <SubAccounts visit={visit} account={account} rows={created.accounts} total={created.total} />
          )}
          {detail !== undefined && <Permissions visit={visit} detail={detail} />}
        </>
      ),
    }
  },
}

/** The kind of an owner. Apart from registered accounts, tokens can be given to other texts, too. */
function ownerKind(owner: string, isAccount: boolean): Text {
  if (isAccount) return { en: 'Account', zh: '账户' }
  if (isContractId(owner)) return { en: 'Contract assets', zh: '合约资产' }
  return owner === '0' ? { en: 'Owner', zh: '持有者' } : { en: 'Public key or name', zh: '公钥或名称' }
}

/** Maximum number of NFTs on the page, most recently received first. */
const MAX_NFTS = 10

/** Maximum number of sub-accounts on the page, newest first. */
const MAX_CREATED = 10

type RelatedPageProps = {
  readonly visit: Visit
  readonly account: string
  /** undefined: the account is not and never was a producer. */
  readonly producer: { readonly registered: boolean } | undefined
}

/** A link to the other page of a contract or a producer. */
function RelatedPage({ visit, account, producer }: RelatedPageProps): Html {
  const isContract = isContractId(account)
  if (!isContract && producer === undefined) return ''
  const now = producer?.registered === true ? IS_PRODUCER : WAS_PRODUCER
  return (
    <p class="neighbours">
      <a href={toHref(visit, formatPagePath(isContract ? 'contract' : 'producer', account))} safe>
        {visit.say(isContract ? VIEW_CONTRACT : now)}
      </a>
    </p>
  )
}

const VIEW_CONTRACT: Text = { en: 'View the contract →', zh: '查看合约 →' }
const IS_PRODUCER: Text = { en: 'This account is a producer →', zh: '此账户是生产者 →' }
const WAS_PRODUCER: Text = { en: 'This account was a producer →', zh: '此账户曾是生产者 →' }

const MAX_VOTES = 30

/** The producers that an owner votes for, largest first. */
const Votes = ({ visit, votes }: Props<{ votes: readonly { option: string; votes: string }[] }>): Html => (
  <Card visit={visit} id="votes" title={{ en: 'Votes', zh: '投票' }}>
    <FirstRows
      visit={visit}
      rows={votes}
      most={MAX_VOTES}
      columns={[
        ['Producer', '生产者', ({ option }) => <Name visit={visit} kind="producer" id={option} />],
        ['Votes', '票数', row => <Amount visit={visit} value={row.votes} token="iost" />, 'digits end'],
      ]}
    />
  </Card>
)

type Nfts = AnswerOf<typeof getAccountNfts>['nfts']

/** An owner's most recently received NFTs; empty if it owns none, which is usual. */
function OwnNfts({ visit, nfts, total }: Props<{ nfts: Nfts; total: number }>): Html {
  if (total === 0) return ''
  const all = formatGrouped(String(total))
  return (
    <Card visit={visit} id="nfts" title={{ en: `NFTs: ${all}`, zh: `NFT：${all} 个` }}>
      <Rows
        visit={visit}
        rows={nfts}
        columns={[
          ['Collection', '合集', row => <Name visit={visit} kind="nft" id={row.collection} />],
          ['Id', '编号', row => <NftName visit={visit} collection={row.collection} id={row.token_id} />, 'end'],
          ['Metadata', '元数据', row => <ChainText visit={visit} text={row.metadata} />],
          ['Owned since block', '持有起始区块', row => <Name visit={visit} kind="block" id={row.since_block} />],
        ]}
      />
      <More visit={visit} shown={nfts.length} total={total} />
    </Card>
  )
}

type SubAccountsProps = {
  readonly visit: Visit
  /** The creator of the accounts. */
  readonly account: string
  readonly rows: readonly {
    readonly name: string
    readonly created_at: string
    readonly tx_hash: string
  }[]
  readonly total: number
}

/** The accounts that an account created, newest first. */
function SubAccounts({ visit, account, rows, total }: SubAccountsProps): Html {
  return (
    <Card visit={visit} id="sub-accounts" title={{ en: 'Sub-accounts', zh: '子账户' }}>
      <Files visit={visit} file={subAccountFile} id={account} total={total} />
      <Rows
        visit={visit}
        rows={rows}
        columns={[
          ['Account', '账户', ({ name }) => <Name visit={visit} kind="account" id={name} />],
          ['Created', '创建时间', ({ created_at }) => <Ago visit={visit} iso={created_at} />, 'end'],
          ['Transaction', '交易', ({ tx_hash }) => <Name visit={visit} kind="tx" id={tx_hash} />],
        ]}
      />
      <More visit={visit} shown={rows.length} total={total} hasFile={total <= MAX_ROWS} />
    </Card>
  )
}

type AccountDetail = AnswerOf<typeof getAccountDetail>

type Item = AccountDetail['groups'][string]['items'][number]

/** Maximum number of permissions, of groups, and of items of each, on a page. */
const MAX_PERMISSIONS = 20

function Permissions({ visit, detail }: Props<{ detail: AccountDetail }>): Html {
  const permissions = Object.values(detail.permissions)
  const groups = Object.values(detail.groups)
  const items: Column<{ readonly items: readonly Item[] }> = [
    'Keys and accounts (weight)',
    '公钥与账户（权重）',
    row => <Items visit={visit} items={row.items} />,
  ]
  return (
    <Card visit={visit} id="permissions" title={{ en: 'Permissions', zh: '权限' }}>
      <FirstRows
        visit={visit}
        rows={permissions}
        most={MAX_PERMISSIONS}
        none={{ en: 'No permissions.', zh: '没有权限。' }}
        columns={[
          ['Permission', '权限', ({ name }) => <bdi safe>{revealInvisible(name)}</bdi>],
          ['Threshold', '阈值', ({ threshold }) => <span safe>{revealInvisible(threshold)}</span>],
          items,
          permissions.some(({ group_names }) => group_names.length > 0) && [
            'Groups',
            '组',
            ({ group_names }) => <bdi safe>{revealInvisible(group_names.slice(0, MAX_PERMISSIONS).join(', '))}</bdi>,
          ],
        ]}
      />
      {groups.length !== 0 && (
        <FirstRows
          visit={visit}
          rows={groups}
          most={MAX_PERMISSIONS}
          columns={[['Group', '组', ({ name }) => <bdi safe>{revealInvisible(name)}</bdi>], items]}
        />
      )}
    </Card>
  )
}

const Items = ({ visit, items }: Props<{ items: readonly Item[] }>): Html => (
  <>
    {items.slice(0, MAX_PERMISSIONS).map(({ id, is_key_pair, permission, weight }) => (
      <div>
        <bdi class="chain" safe>
          {revealInvisible(is_key_pair ? id : `${id}@${permission}`)}
        </bdi>{' '}
        <small safe>{`(${revealInvisible(weight)})`}</small>
      </div>
    ))}
    <More visit={visit} shown={MAX_PERMISSIONS} total={items.length} />
  </>
)

type Records = AnswerOf<typeof getAccountTx>

/** The records of the address: parameters and answer of the API. */
type RecordsRequest = {
  readonly given: CallParameters & { readonly account: string }
  /** The answer, or the reason why no row can match these filters. */
  readonly answer: Records | Text
}

async function requestedRecords(visit: Visit, account: string): Promise<RecordsRequest> {
  const filters = readGivenFields(visit, ACCOUNT_FIELDS)
  const given = { account, ...filters }
  const why = explainNone(filters)
  return { given, answer: why ?? (await visit.ask(getAccountTx, { ...given, ...readGivenPart(visit) })) }
}

/** The reason why no row can match filters together; undefined: rows can match. The API refuses such filters. */
function explainNone(filters: CallParameters): Text | undefined {
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
  readonly tokens: readonly string[]
  readonly children: Html
}

/** The records of an account that match the filters. */
function AccountRecords({ visit, asked: { given, answer }, tokens, children }: AccountRecordsProps): Html {
  const { say } = visit
  return (
    <Card visit={visit} id="records" title={{ en: 'Records: payments and calls', zh: '记录：收付款与方法调用' }}>
      {children as 'safe'}
      <Filters
        visit={visit}
        fields={ACCOUNT_FIELDS}
        choices={buildChoices(visit, given.account, {
          tokens,
          rows: 'transactions' in answer ? answer.transactions : [],
        })}
      />
      {'transactions' in answer ? (
        <RecordList
          visit={visit}
          file={accountRecords}
          id={given.account}
          listed={answer}
          owner={given.account}
          live="records"
        />
      ) : (
        <p class="warn" role="alert" data-live="records" safe>
          {say(answer)}
        </p>
      )}
    </Card>
  )
}

const MAX_CHOICES = 50

/** The common actions of system contracts. */
const USUAL = [
  ...['transfer', 'transferFreeze', 'issue', 'destroy'].map(name => `token.iost/${name}`),
  ...['pledge', 'unpledge'].map(name => `gas.iost/${name}`),
  ...['buy', 'sell', 'lend'].map(name => `ram.iost/${name}`),
  ...['vote', 'unvote', 'voterWithdraw'].map(name => `vote_producer.iost/${name}`),
  ...['auth.iost/signUp', 'system.iost/setCode', 'system.iost/updateCode'],
]

function buildChoices(
  visit: Visit,
  account: string,
  { tokens, rows }: { readonly tokens: readonly string[]; readonly rows: readonly RecordRow[] },
) {
  const { say } = visit
  // A row names its contract only if the contract is the recipient.
  const seen = rows
    .filter(({ to, action_name }) => isContractId(to) && !isSystemContract(to) && isActionName(action_name))
    .map(({ to, action_name }) => `${to}/${action_name}`)
  const parties = rows.flatMap(row => Object.values(getRowParties(row)))
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
    token: { choices: [...new Set(['iost', ...tokens.slice(0, MAX_CHOICES), ...moved])] },
    func_name: { choices: [...new Set([...seen, ...USUAL])] },
  }
}
