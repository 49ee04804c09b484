import { getAccountTx } from '#actions/get-account-tx.ts'
import { getContractTx } from '#actions/get-contract-tx.ts'
import { getTokenTx } from '#actions/get-token-tx.ts'
import type { Rows } from '#actions/list/rows.ts'
import { argumentsAsRead } from '#chain/arguments.ts'
import { Exact, RawJson } from '#chain/json.ts'
import { exactOwner } from '../exact-owner.ts'
import { outcomeOf } from '../format/outcome.ts'
import { memoOf, movedBy, partiesOf, type RecordRow, WAYS, wayOf } from '../format/record.ts'
import { ACCOUNT_FIELDS, CONTRACT_FIELDS, TOKEN_FIELDS } from '../part/form-fields.ts'
import { textCell } from './cell.ts'
import type { Download, FileRequest } from './download.ts'
import { listFile } from './list-file.ts'
import { column, type FileColumn, numberCell, timeCell } from './table.ts'

/** The rows with their arguments, which an export keeps separately. */
const recordsIn = ({ rows, data = [] }: Rows): readonly RecordRow[] =>
  rows.map((row, at) => ({ ...(row as RecordRow), data: argumentsIn(data[at]) }))

const argumentsIn = (data: RawJson | string | undefined): readonly unknown[] =>
  data instanceof RawJson ? (argumentsAsRead(data.text) ?? []) : []

type RecordColumn = FileColumn<RecordRow>

const time: RecordColumn = column('Time (UTC)', '时间（UTC）', ({ created_at }) => timeCell(created_at))
const token: RecordColumn = column('Token', '代币', row => textCell(movedBy(row)?.token ?? ''))

/** The last columns of every file of records. */
const tail = ({ lang }: FileRequest): readonly RecordColumn[] => [
  token,
  column('Memo', '备注', ({ action_name, data }) => textCell(memoOf(action_name, data))),
  column('Action', '方法', ({ action_name }) => textCell(action_name)),
  column('Status', '状态', ({ status_code }) => textCell(outcomeOf(status_code)[lang])),
  column('Transaction', '交易', ({ tx_hash }) => tx_hash),
  column('Block', '区块', ({ block }) => numberCell(block)),
]

/** The signed change of an owner's balance; empty where no tokens moved. */
const changeOf = (row: RecordRow, owner: string): Exact | '' => {
  const amount = movedBy(row)?.amount
  const way = wayOf(row, owner)
  if (amount === undefined || way === undefined) return ''
  return new Exact(way === 'in' ? `+${amount}` : way === 'out' ? `-${amount}` : '0')
}

/** The counterparty of a row; both parties where the owner is neither of them. */
const otherOf = (row: RecordRow, owner: string): string => {
  const { from, to } = partiesOf(row)
  if (from === owner) return to
  if (to === owner) return from
  return [from, to].filter(name => name !== '').join(' → ')
}

const ofOwner = (request: FileRequest): readonly RecordColumn[] => {
  const { id, lang } = request
  const directionOf = (row: RecordRow): string => {
    const way = wayOf(row, id)
    return way === undefined ? '' : WAYS[way][lang]
  }
  return [
    time,
    column('Direction', '方向', directionOf),
    column('Counterparty', '对方', row => textCell(otherOf(row, id))),
    column('Change', '变动', row => changeOf(row, id)),
    ...tail(request),
  ]
}

const ofMany = (request: FileRequest): readonly RecordColumn[] => [
  time,
  column('From', '转出方', row => textCell(partiesOf(row).from)),
  column('To', '转入方', row => textCell(partiesOf(row).to)),
  column('Amount', '数量', row => {
    const amount = movedBy(row)?.amount
    return amount === undefined ? '' : numberCell(amount)
  }),
  ...tail(request),
]

type Kind = Pick<Parameters<typeof listFile<RecordRow>>[0], 'path' | 'action' | 'of' | 'fields' | 'columns'>

const recordFile = (kind: Kind): Download => listFile({ ...kind, isOfTime: true, read: recordsIn })

export const accountRecords: Download = {
  ...recordFile({
    ...{ path: '/account/{id}/records.csv', action: getAccountTx, of: 'account' },
    ...{ fields: ACCOUNT_FIELDS, columns: ofOwner },
  }),
  // The columns are from the view of one owner, so its canonical name is needed.
  exactName: exactOwner,
}

export const contractRecords = recordFile({
  ...{ path: '/contract/{id}/records.csv', action: getContractTx, of: 'contract' },
  ...{ fields: CONTRACT_FIELDS, columns: ofMany },
})

export const tokenMovements = recordFile({
  ...{ path: '/token/{id}/movements.csv', action: getTokenTx, of: 'token' },
  ...{ fields: TOKEN_FIELDS, columns: ofMany },
})
