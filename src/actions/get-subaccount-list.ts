import { type TProperties, Type } from '@sinclair/typebox'
import { toIso } from '#chain/time.ts'
import { accounts } from '#indices/account.ts'
import { listOf } from '#indices/list.ts'
import { unknown } from './find/loading.ts'
import { listRecords, type NumberedRecord } from './find/numbered.ts'
import { defineList } from './list/paging.ts'
import { account, paging, sort } from './request/parameter-types.ts'
import { checkRange, range } from './request/range.ts'
import { defineCreatedTime, listOfRows, seq, shape, text, txHash } from './shape/results.ts'

const subaccountFields = {
  name: text('Account name.', '账户名。'),
  created_by: text('Account that created this account.', '创建者账户。'),
  created_at: defineCreatedTime(),
  tx_hash: txHash(),
}
const defineListResult = <P extends TProperties>(row: P) =>
  listOfRows('accounts', shape(row), { en: 'Accounts of this page.', zh: '账户列表。' })

/** The accounts that an account created. */
export const getSubaccountList = defineList({
  module: 'account',
  action: 'get-subaccount-list',
  title: { en: 'Sub-accounts', zh: '子账户列表' },
  summary: {
    en: 'Accounts created by this account, newest first; sort=asc returns the exact reverse. The creator is the publisher of the sign-up transaction. Ranges are by creation.',
    zh: '由该账户创建的账户，最新的在前；sort=asc 时顺序完全相反。创建者是注册交易的发布者。区间按创建时间计。',
  },
  params: Type.Object({ account: account(), ...paging, sort: sort(), ...range }),
  check: checkRange,
  result: defineListResult({ seq: seq(), ...subaccountFields }),
  compatResult: defineListResult(subaccountFields),
  list: 'accounts',
  source: {
    state: [],
    open: async (context, { account: name, ...asked }) => {
      const { view, compat } = context
      if ((await view.get(accounts, name)) === undefined) throw unknown(context, 'account', name)
      const rowOf = ({ seq: number, doc }: NumberedRecord) => ({
        ...(compat === 'iostabc' ? {} : { seq: number }),
        name: doc.to,
        created_by: doc.creator ?? name,
        created_at: toIso(doc.time),
        tx_hash: doc.tx_hash,
      })
      const found = await listRecords(context, listOf.created(name), asked)
      return { ...found, rows: async (_view, docs: readonly NumberedRecord[]) => ({ rows: docs.map(rowOf) }) }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'admin' },
})
