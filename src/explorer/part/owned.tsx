/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getTokenList } from '#actions/get-account.ts'
import type { getAccountNfts } from '#actions/get-nft.ts'
import { subAccountFile } from '../download/downloads.ts'
import { MAX_ROWS } from '../download/file.ts'
import { grouped } from '../format/amount.ts'
import { visible } from '../format/text.ts'
import { formatIso } from '../format/time.ts'
import { pathOfBalance, toHref } from '../links.ts'
import type { Html, Props, Visit } from '../page.ts'
import { Ago, At, Count, None } from './amount.tsx'
import type { AccountDetail } from './holdings.tsx'
import { Files } from './list.tsx'
import { Name, NftName } from './name.tsx'
import { Card, Fold } from './section.tsx'
import { type Column, FirstRows, More, Rows } from './table.tsx'
import { ChainText } from './text.tsx'

type Owned = AnswerOf<typeof getTokenList>['tokens'][number]

/** Maximum number of tokens on a page: anyone can send thousands of tokens to an account. */
const MAX_TOKENS = 50

/** Maximum length of a list that is initially open. */
const OPEN = 6

export function OwnTokens({ visit, account, tokens }: Props<{ account: string; tokens: readonly Owned[] }>): Html {
  const all = grouped(String(tokens.length))
  return (
    <Fold
      visit={visit}
      id="tokens"
      title={{ en: `Tokens: ${all}`, zh: `代币：${all} 种` }}
      isOpen={tokens.length <= OPEN}
    >
      <FirstRows
        visit={visit}
        rows={tokens}
        most={MAX_TOKENS}
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
              <a href={toHref(visit, pathOfBalance(account, symbol))}>
                <Count value={balance} />
              </a>
            ),
            'digits end',
          ],
          ['Frozen', '冻结', token => <Frozen visit={visit} token={token} />, 'digits'],
        ]}
      />
    </Fold>
  )
}

/** Maximum number of frozen amounts of a token with their times. */
const MAX_TIMES = 3

/** The frozen amounts of a token, and the end of each freeze. */
function Frozen({ visit, token }: Props<{ token: Owned }>): Html {
  const { frozen_balance, frozen_list: parts } = token
  const { say } = visit
  if (!/[1-9]/.test(frozen_balance)) return <None />
  return (
    <span class="stack">
      <Count value={frozen_balance} />
      {parts.slice(0, MAX_TIMES).map(({ amount, time }) => (
        <small>
          {parts.length !== 1 && <Count value={amount} />} <span safe>{say({ en: 'until', zh: '冻结至' })}</span>{' '}
          <At iso={formatIso(time)} />
        </small>
      ))}
      {parts.length > MAX_TIMES && (
        <small safe>{say({ en: `${parts.length} amounts in all`, zh: `共 ${parts.length} 笔` })}</small>
      )}
    </span>
  )
}

type Nfts = AnswerOf<typeof getAccountNfts>['nfts']

/** An owner's most recently received NFTs; empty if it owns none, which is usual. */
export function OwnNfts({ visit, nfts, total }: Props<{ nfts: Nfts; total: number }>): Html {
  if (total === 0) return ''
  const all = grouped(String(total))
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
export function SubAccounts({ visit, account, rows, total }: SubAccountsProps): Html {
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

type Item = AccountDetail['groups'][string]['items'][number]

/** Maximum number of permissions, of groups, and of items of each, on a page. */
const MAX_PERMISSIONS = 20

export function Permissions({ visit, detail }: Props<{ detail: AccountDetail }>): Html {
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
          ['Permission', '权限', ({ name }) => <bdi safe>{visible(name)}</bdi>],
          ['Threshold', '阈值', ({ threshold }) => <span safe>{visible(threshold)}</span>],
          items,
          permissions.some(({ group_names }) => group_names.length > 0) && [
            'Groups',
            '组',
            ({ group_names }) => <bdi safe>{visible(group_names.slice(0, MAX_PERMISSIONS).join(', '))}</bdi>,
          ],
        ]}
      />
      {groups.length !== 0 && (
        <FirstRows
          visit={visit}
          rows={groups}
          most={MAX_PERMISSIONS}
          columns={[['Group', '组', ({ name }) => <bdi safe>{visible(name)}</bdi>], items]}
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
          {visible(is_key_pair ? id : `${id}@${permission}`)}
        </bdi>{' '}
        <small safe>{`(${visible(weight)})`}</small>
      </div>
    ))}
    <More visit={visit} shown={MAX_PERMISSIONS} total={items.length} />
  </>
)
