/** @jsxImportSource @kitajs/html */
import { MOST_ROWS } from '../download/download.ts'
import { subAccountFile } from '../download/histories.ts'
import type { Html, Visit } from '../page.ts'
import { Card } from './card.tsx'
import { Files } from './files.tsx'
import { More } from './more.tsx'
import { Name } from './name.tsx'
import { Rows } from './rows.tsx'
import { Ago } from './time.tsx'

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
export const SubAccounts = ({ visit, account, rows, total }: SubAccountsProps): Html => {
  const { say } = visit
  return (
    <Card visit={visit} id="sub-accounts" title={say({ en: 'Sub-accounts', zh: '子账户' })}>
      <Files visit={visit} file={subAccountFile} id={account} total={total} />
      <Rows
        visit={visit}
        rows={rows}
        columns={[
          ['Account', '账户', ({ name }) => <Name visit={visit} kind="account" id={name} />],
          ['Created', '创建时间', ({ created_at }) => <Ago visit={visit} iso={created_at} />, { place: 'end' }],
          ['Transaction', '交易', ({ tx_hash }) => <Name visit={visit} kind="tx" id={tx_hash} />],
        ]}
      />
      <More visit={visit} shown={rows.length} total={total} hasFile={total <= MOST_ROWS} />
    </Card>
  )
}
