/** @jsxImportSource @kitajs/html */

import { getAccountDetail, getSubaccountList, getTokenList } from '#actions/get-account.ts'
import { getAccountActivity } from '#actions/get-activity.ts'
import { getAccountBalance } from '#actions/get-balance.ts'
import { getAccountNfts } from '#actions/get-nft.ts'
import { getProducerRegistration } from '#actions/get-producer.ts'
import { isAccountName, isContractId } from '#chain/names.ts'
import { ifFound } from '../find/known.ts'
import { formatTitle } from '../find/labels.ts'
import { ACCOUNT_FIELDS, listFieldNames } from '../format/field.ts'
import { ownerKind } from '../format/state.ts'
import { visible } from '../format/text.ts'
import { describeHoldings } from '../format/transaction.ts'
import { formatPagePath, isNarrowed, PAGING, toHref } from '../links.ts'
import type { Html, Page, Props, Visit } from '../page.ts'
import { Amount } from '../part/amount.tsx'
import { AllChanges, BalanceOverTime, balanceSince, firstChange } from '../part/balance.tsx'
import { assetsOfEarner, Holdings, Resources, Withdrawable } from '../part/holdings.tsx'
import { Heading, Name, QrCode } from '../part/name.tsx'
import { OwnNfts, OwnTokens, Permissions, SubAccounts } from '../part/owned.tsx'
import { Activity } from '../part/plot.tsx'
import { AccountRecords, requestedRecords } from '../part/records.tsx'
import { Card } from '../part/section.tsx'
import { FirstRows } from '../part/table.tsx'

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
      firstChange(visit, { account: visit.id, token: 'iost' }),
    ])
    // The address may contain a contract's id without its prefix.
    const { name: account } = balance
    const ifAccount = async <T,>(ask: () => Promise<T>): Promise<T | undefined> =>
      isAccountName(account) ? ifFound(ask()) : undefined
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
      assetsOfEarner(visit, account, { isVoter: votes.length > 0, producer: registration }),
      first === undefined ? undefined : balanceSince(visit, { account, token: 'iost' }, first),
    ])
    const kind = say(ownerKind(account, detail !== undefined))
    return {
      title: `${kind} ${formatTitle(visit, account)}`,
      isMinor: isNarrowed(visit, [...FILTERS, ...PAGING]),
      path: formatPagePath('account', account),
      description: say(describeHoldings(visible(account), balance, detail?.gas_info.pledged_info ?? [])),
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

function RelatedPage({ visit, account, producer }: RelatedPageProps): Html {
  const { say } = visit
  if (isContractId(account))
    return (
      <p class="neighbours">
        <a href={toHref(visit, formatPagePath('contract', account))} safe>
          {say({ en: 'View the contract →', zh: '查看合约 →' })}
        </a>
      </p>
    )
  return producer === undefined ? (
    ''
  ) : (
    <p class="neighbours">
      <a href={toHref(visit, formatPagePath('producer', account))} safe>
        {producer.registered
          ? say({ en: 'This account is a producer →', zh: '此账户是生产者 →' })
          : say({ en: 'This account was a producer →', zh: '此账户曾是生产者 →' })}
      </a>
    </p>
  )
}

const MAX = 30

/** The producers that an owner votes for, largest first. */
const Votes = ({ visit, votes }: Props<{ votes: readonly { option: string; votes: string }[] }>): Html => (
  <Card visit={visit} id="votes" title={{ en: 'Votes', zh: '投票' }}>
    <FirstRows
      visit={visit}
      rows={votes}
      most={MAX}
      columns={[
        ['Producer', '生产者', ({ option }) => <Name visit={visit} kind="producer" id={option} />],
        ['Votes', '票数', row => <Amount visit={visit} value={row.votes} token="iost" />, 'digits end'],
      ]}
    />
  </Card>
)
