/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import { getBalanceHistory } from '#actions/get-balance.ts'
import { findCanonicalName } from '../find/known.ts'
import { formatTitle } from '../find/labels.ts'
import { revealInvisible } from '../format/text.ts'
import { formatBalancePath, isNarrowed } from '../links.ts'
import type { Html, Page, Props, Visit } from '../page.ts'
import { Ago, Amount, Change, None, When } from '../part/amount.tsx'
import { BalanceOverTime, findFirstChange, readBalanceHistory } from '../part/balance.tsx'
import { alignNumbers, ListCard, readGivenPage } from '../part/list.tsx'
import { Heading, Name, Owner } from '../part/name.tsx'
import { Facts } from '../part/section.tsx'
import { ChainText } from '../part/text.tsx'

/** An owner's balance of a token: its beginning, its course, and every change. */
export const balancePage: Page = {
  path: '/account/{id}/{part}',
  show: async visit => {
    const { say } = visit
    const account = await findCanonicalName(visit.ask, visit.id)
    const of = { account, token: visit.part }
    const isWhole = !isNarrowed(visit, ['page'])
    const [first, { changes, total }] = await Promise.all([
      findFirstChange(visit, of),
      visit.ask(getBalanceHistory, { ...of, ...readGivenPage(visit) }),
    ])
    const { changes: newest } = isWhole
      ? { changes }
      : await visit.ask(getBalanceHistory, { ...of, page: '1', size: '1' })
    // Later pages of its changes do not show the balance over time.
    const history = first === undefined || !isWhole ? undefined : await readBalanceHistory(visit, of, first)
    const [owner, token] = [formatTitle(visit, account), revealInvisible(visit.part)]
    return {
      path: formatBalancePath(account, visit.part),
      title: say({ en: `${token} of ${owner}`, zh: `${owner} 的 ${token}` }),
      description: say({
        en: `How much ${token} ${owner} has on IOST, since when, and every change of it.`,
        zh: `${owner} 在 IOST 上持有的 ${token}：余额、首次取得时间与全部变动。`,
      }),
      isMinor: true,
      body: (
        <>
          <Heading visit={visit} kind={say({ en: 'Balance', zh: '余额' })} alias={visit.part} />
          <section class="card">
            <Now visit={visit} account={account} first={first} newest={newest.find(isChange)} />
          </section>
          {history !== undefined && <BalanceOverTime visit={visit} history={history} token={visit.part} />}
          <Changes visit={visit} changes={changes.filter(isChange)} total={total ?? 0} />
        </>
      ),
    }
  },
}

type Row = AnswerOf<typeof getBalanceHistory>['changes'][number]
type ChangeRow = Extract<Row, { readonly change: string }>

const isChange = (row: Row): row is ChangeRow => 'change' in row

type NowProps = {
  readonly visit: Visit
  readonly account: string
  /** Time of the first change; undefined: there never was one. */
  readonly first: string | undefined
  readonly newest: ChangeRow | undefined
}

function Now({ visit, account, first, newest }: NowProps): Html {
  const { part: token } = visit
  const amount = (value: string | undefined): Html => <Amount visit={visit} value={value ?? '0'} token={token} />
  return (
    <Facts
      visit={visit}
      facts={[
        ['Owner', '持有者', <Owner visit={visit} id={account} />],
        ['Available', '可用', amount(newest?.balance)],
        ['Frozen', '冻结', amount(newest?.frozen)],
        ['First received', '首次取得', first === undefined ? <None /> : <When visit={visit} iso={first} />],
        ['Last change', '最近变动', newest === undefined ? <None /> : <When visit={visit} iso={newest.created_at} />],
      ]}
    />
  )
}

const WORDS: ReadonlyMap<string, Text> = new Map<string, Text>([
  ['transfer', { en: 'transfer', zh: '转账' }],
  ['transferFreeze', { en: 'transfer, frozen', zh: '转账并冻结' }],
  ['issue', { en: 'issue', zh: '发行' }],
  ['destroy', { en: 'destroy', zh: '销毁' }],
  ['contribute', { en: 'block reward', zh: '出块奖励' }],
  ['ram', { en: 'RAM', zh: 'RAM' }],
  ['release', { en: 'release', zh: '解冻' }],
])

function Changes({ visit, changes, total }: Props<{ changes: readonly ChangeRow[]; total: number }>): Html {
  const { say } = visit
  return (
    <ListCard
      visit={visit}
      section="changes"
      title={{ en: 'Changes, newest first', zh: '变动（最新的在前）' }}
      total={total}
      rows={changes}
      none={{ en: 'No changes.', zh: '没有变动。' }}
      columns={[
        [
          'Transaction',
          '交易',
          ({ tx_hash }) => (tx_hash === null ? <None /> : <Name visit={visit} kind="tx" id={tx_hash} />),
          'base',
        ],
        ['Time', '时间', row => <Ago visit={visit} iso={row.created_at} />, 'base'],
        [
          'Type',
          '类型',
          ({ action }) => (
            <span safe>{say(WORDS.get(action) ?? { en: revealInvisible(action), zh: revealInvisible(action) })}</span>
          ),
          'lead',
        ],
        [
          'Counterparty',
          '对方',
          ({ counterparty }) => (counterparty === null ? <None /> : <Owner visit={visit} id={counterparty} />),
        ],
        [
          'Memo',
          '备注',
          ({ memo }) => (memo === null || memo === '' ? <None /> : <ChainText visit={visit} text={memo} isProse />),
        ],
        ['Change', '变动', row => <Change value={row.change} />, 'digits end'],
        alignNumbers(changes, ['Available after', '变动后可用', row => row.balance]),
        // A change may go into the frozen balance, or from there to the available one.
        changes.some(({ frozen }) => frozen !== '0') &&
          alignNumbers(changes, ['Frozen after', '变动后冻结', row => row.frozen]),
      ]}
    />
  )
}
