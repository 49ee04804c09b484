import type { Typed } from '#actions/define.ts'
import { getAccountBalance } from '#actions/get-account-balance.ts'
import { getAccountTx } from '#actions/get-account-tx.ts'
import { getContractTx } from '#actions/get-contract-tx.ts'
import { getTokenTx } from '#actions/get-token-tx.ts'
import type { Rows } from '#actions/list/rows.ts'
import { recordFilters } from '#actions/request/record-filters.ts'
import type { Text } from '#actions/text.ts'
import { Exact, RawJson } from '#chain/json.ts'
import { dateOf, dayOf } from '#chain/time.ts'
import type { Published } from '#store/port.ts'
import { listIn } from '../format/json.ts'
import { outcomeOf } from '../format/outcome.ts'
import { memoOf, movedBy, partiesOf, type Recorded, WAYS, wayOf } from '../format/record.ts'
import { filtersGiven } from '../part/filters.tsx'
import { textCell } from './cell.ts'
import type { AskedFile, Download, Table } from './download.ts'

/** Filters of an account's records. */
export const ACCOUNT_FILTERS = Object.keys(recordFilters)
export const CONTRACT_FILTERS = ['action_name']

/** The rows with their arguments, which rows of an export have beside them. */
const recordsIn = ({ rows, data = [] }: Rows): readonly Recorded[] =>
  rows.map((row, at) => ({ ...(row as Recorded), data: argumentsIn(data[at]) }))

const argumentsIn = (data: RawJson | string | undefined): readonly unknown[] =>
  data instanceof RawJson ? (listIn(data.text) ?? []) : []

type FileColumn = {
  readonly head: Text
  readonly cell: (row: Recorded) => string | Exact
}

const column = (en: string, zh: string, cell: FileColumn['cell']): FileColumn => ({
  head: { en, zh },
  cell,
})

/** `2026-11-21 08:25:32.500`, which spreadsheets take for a time. */
const time = column('Time (UTC)', '时间（UTC）', ({ created_at }) =>
  created_at.replace('T', ' ').replace(/Z$/, ''),
)
const token = column('Token', '代币', row => textCell(movedBy(row)?.token ?? ''))

/** What the columns of every file of records end with. */
const tail = ({ lang }: AskedFile): readonly FileColumn[] => [
  token,
  column('Memo', '备注', ({ action_name, data }) => textCell(memoOf(action_name, data))),
  column('Action', '方法', ({ action_name }) => textCell(action_name)),
  column('Status', '状态', ({ status_code }) => textCell(outcomeOf(status_code)[lang])),
  column('Transaction', '交易', ({ tx_hash }) => tx_hash),
  column('Block', '区块', ({ block }) => new Exact(block)),
]

/** The change of an owner's balance, with its sign; nothing where no tokens moved. */
const changeOf = (row: Recorded, owner: string): Exact | '' => {
  const amount = movedBy(row)?.amount
  const way = wayOf(row, owner)
  if (amount === undefined || way === undefined) return ''
  return new Exact(way === 'in' ? `+${amount}` : way === 'out' ? `-${amount}` : '0')
}

/** The other side of a row; both sides where the owner is none of them. */
const otherOf = (row: Recorded, owner: string): string => {
  const { from, to } = partiesOf(row)
  if (from === owner) return to
  if (to === owner) return from
  return [from, to].filter(name => name !== '').join(' → ')
}

const ofOwner = (asked: AskedFile): readonly FileColumn[] => {
  const { id, lang } = asked
  const directionOf = (row: Recorded): string => {
    const way = wayOf(row, id)
    return way === undefined ? '' : WAYS[way][lang]
  }
  return [
    time,
    column('Direction', '方向', directionOf),
    column('Counterparty', '对方', row => textCell(otherOf(row, id))),
    column('Change', '变动', row => changeOf(row, id)),
    ...tail(asked),
  ]
}

const ofMany = (asked: AskedFile): readonly FileColumn[] => [
  time,
  column('From', '转出方', row => textCell(partiesOf(row).from)),
  column('To', '转入方', row => textCell(partiesOf(row).to)),
  column('Amount', '数量', row => {
    const amount = movedBy(row)?.amount
    return amount === undefined ? '' : new Exact(amount)
  }),
  ...tail(asked),
]

/** Which days or blocks a file is of. */
const periodOf = ({ query }: AskedFile, at: Published): readonly string[] => {
  const given = (name: string): string => query.get(name) ?? ''
  const blocks = given('start_block') + given('end_block')
  return [
    ...(given('from') === '' ? [] : ['from', given('from')]),
    ...['to', given('to') === '' ? dateOf(dayOf(at.time)) : given('to')],
    ...(blocks === ''
      ? []
      : ['blocks', given('start_block') || '0', given('end_block') || String(at.height)]),
  ]
}

const tableOf = (columns: readonly FileColumn[], { lang }: AskedFile): Table => ({
  heads: columns.map(({ head }) => head[lang]),
  cellsOf: rows => recordsIn(rows).map(row => columns.map(({ cell }) => cell(row))),
})

type Kind = {
  readonly path: string
  readonly action: Typed
  /** What the list is of, as its parameter and the file's name call it. */
  readonly of: 'account' | 'contract' | 'token'
  readonly filters: readonly string[]
  readonly columns: (asked: AskedFile) => readonly FileColumn[]
}

const recordFile = ({ path, action, of, filters, columns }: Kind): Download => ({
  path,
  action,
  table: asked => tableOf(columns(asked), asked),
  given: asked => ({ [of]: asked.id, ...filtersGiven(asked, filters) }),
  names: (asked, at) => [
    ...[of, asked.id],
    ...filters.flatMap(name => {
      const value = asked.query.get(name) ?? ''
      if (value === '') return []
      return name === 'failed' ? ['failed'] : [name === 'token' ? 'token' : 'action', value]
    }),
    ...periodOf(asked, at),
  ],
})

export const accountRecords: Download = {
  ...recordFile({
    ...{ path: '/account/{id}/records.csv', action: getAccountTx, of: 'account' },
    ...{ filters: ACCOUNT_FILTERS, columns: ofOwner },
  }),
  // A contract's id may be given without its prefix, and the columns are those of one owner.
  exactName: async (ask, account) => (await ask(getAccountBalance, { account })).name,
}

export const contractRecords = recordFile({
  ...{ path: '/contract/{id}/records.csv', action: getContractTx, of: 'contract' },
  ...{ filters: CONTRACT_FILTERS, columns: ofMany },
})

export const tokenMovements = recordFile({
  ...{ path: '/token/{id}/movements.csv', action: getTokenTx, of: 'token' },
  ...{ filters: [], columns: ofMany },
})
