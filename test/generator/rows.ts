import { statusName } from '#chain/receipt-hash.ts'
import { keysOf, movedBy } from '../support/oracle/plain-lists.ts'
import { baseTx, gasOf, inflates, inflationTx, userTransactions } from './content.ts'
import { blockTime } from './time.ts'
import { OK, type Tx } from './transaction.ts'
import { type Place, txHash } from './transaction-hash.ts'
import type { World } from './world.ts'

type RowText = 'contract' | 'action' | 'data' | 'returned' | 'status' | 'from' | 'to'
/** A row of the lists of records, computed from the plan of a transaction. */
export type Row = Place &
  Readonly<Record<RowText, string>> & {
    readonly index: number
    /** Lists that contain the row. */
    readonly keys: readonly string[]
  }

const DEPLOYING = /^system\.iost\/(?:setCode|initSetCode)$/
const MOVEMENT = /^token\.iost\/(?:transfer|transferFreeze|issue|destroy)$/

/** What a movement moved; undefined: it is none. */
const movementOf = (name: string, content: string) =>
  MOVEMENT.test(name) ? movedBy(name, JSON.parse(content) as readonly unknown[]) : undefined

/** Rows of one transaction. `deployed`: the contracts that exist after the transaction. */
export function rowsOfTransaction(tx: Tx, at: Place, deployed: ReadonlySet<string>): readonly Row[] {
  const status = statusName(tx.status)
  const { publisher } = tx
  const rows: Row[] = tx.actions.map(({ contract, actionName: action, data, from, to }, index) => {
    const name = `${contract}/${action}`
    const isDone = tx.status === OK
    // A delayed transaction has no receipts yet, so it owns none.
    const owns = isDone && tx.receipts.some(({ funcName, content }) => funcName === name && content === data)
    const row = { contract, action, status, from, to }
    const listed = {
      ...{ ...row, publisher, ownAction: true },
      created: isDone && name === 'auth.iost/signUp' ? to : undefined,
      deployed: isDone && DEPLOYING.test(name) ? contract : undefined,
      moved: owns ? movementOf(name, data) : undefined,
    }
    return { ...at, ...row, index, data, returned: tx.returns[index] ?? '', keys: keysOf(listed, deployed) }
  })
  return [...rows, ...rowsOfReceipts(tx, { ...at, index: rows.length }, deployed)]
}

/** Rows of the receipts that no action owns. `first`: the place of the first one. */
function rowsOfReceipts(
  tx: Tx,
  first: Pick<Row, 'height' | 'position' | 'index'>,
  deployed: ReadonlySet<string>,
): readonly Row[] {
  const rows: Row[] = []
  for (const { funcName: name, content, row } of tx.receipts) {
    if (row === undefined) continue
    const [from, to] = row
    const [contract = '', action = ''] = name.split('/')
    const common = { contract, action, status: statusName(tx.status), from, to }
    const listed = {
      ...{ ...common, publisher: tx.publisher, ownAction: false },
      created: name === 'auth.iost/signUp' ? to : undefined,
      moved: movementOf(name, content),
    }
    const keys = keysOf(listed, deployed)
    rows.push({ ...first, ...common, index: first.index + rows.length, data: content, returned: '', keys })
  }
  return rows
}

/** Rows of the inflation of a block. The only action of its transaction has none. */
export const inflationRows = (height: number, deployed: ReadonlySet<string>): readonly Row[] =>
  rowsOfReceipts(inflationTx(), { height, position: 0, index: 1 }, deployed)

/** Every row of blocks `from` … `to`, in order. Adds new contracts to `deployed`. */
export function* rowsBetween(world: World, from: number, to: number, deployed: Set<string>): Generator<Row> {
  for (let height = from; height <= to; height += 1) {
    const base = height === 0 ? 0 : 1
    if (inflates(world, height)) yield* inflationRows(height, deployed)
    for (const [index, tx] of userTransactions(world, height).entries()) {
      for (const effect of tx.effects) if (effect.kind === 'deploy') deployed.add(effect.contract)
      yield* rowsOfTransaction(tx, { height, position: index + base }, deployed)
    }
  }
}

export function hashOfRow(world: World, { height, position }: Row): string {
  const users = userTransactions(world, height)
  const time = blockTime(world.settings.seed, height)
  const base = () => baseTx(world, height, { gas: gasOf(userTransactions(world, height - 1)), time })
  const tx = height === 0 ? users[position] : position === 0 ? base() : users[position - 1]
  if (tx === undefined) throw new Error(`Block ${height} has no transaction ${position}.`)
  return txHash(world.seals, tx, { height, position })
}
