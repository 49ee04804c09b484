import { statusName } from '#chain/receipt-hash.ts'
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
    /**
     * Lists that contain the row: `account/…`, `failed/…`, `contract/…`, `action/…/…`, `called/…/…/…`,
     * `created/…`, `token/…`, `moved/…/…`, `in/…`, `in/…/…`, `contracts`.
     */
    readonly keys: readonly string[]
  }

const namesOf = (...names: readonly string[]): readonly string[] => [...new Set(names)].filter(name => name !== '')

function keysOf(names: readonly string[], contract: string, action: string, deployed: ReadonlySet<string>): string[] {
  const keys = names.map(name => `account/${name}`)
  if (deployed.has(contract)) keys.push(`contract/${contract}`, `action/${contract}/${action}`)
  return keys
}

const DEPLOYING = /^system\.iost\/(?:setCode|initSetCode)$/
const MOVEMENT = /^token\.iost\/(?:transfer|transferFreeze|issue|destroy)$/

/** Lists of movements of a row's token. */
function movedBy(name: string, content: string, parties: readonly string[]): readonly string[] {
  if (!MOVEMENT.test(name)) return []
  const [token, first, second] = JSON.parse(content) as readonly string[]
  const to = name.endsWith('/destroy') ? '' : name.endsWith('/issue') ? first : second
  const isOwn = name.startsWith('token.iost/transfer') && first === second
  const taking = parties.filter(party => party === to && !isOwn)
  return [
    `token/${token}`,
    ...parties.map(party => `moved/${party}/${token}`),
    ...taking.flatMap(party => [`in/${party}`, `in/${party}/${token}`]),
  ]
}

/** Rows of one transaction. `deployed`: the contracts that exist after the transaction. */
export function rowsOfTransaction(tx: Tx, at: Place, deployed: ReadonlySet<string>): readonly Row[] {
  const status = statusName(tx.status)
  const rows: Row[] = tx.actions.map(({ contract, actionName: name, data, from, to }, index) => {
    const names = namesOf(from, to, tx.publisher)
    const keys = keysOf(names, contract, name, deployed)
    if (deployed.has(contract)) keys.push(`called/${tx.publisher}/${contract}/${name}`)
    if (tx.status !== OK) keys.push(...names.map(party => `failed/${party}`))
    if (tx.status === OK && contract === 'auth.iost' && name === 'signUp') keys.push(`created/${tx.publisher}`)
    if (tx.status === OK) {
      // A delayed transaction has no receipts yet, so it owns none.
      const owns = tx.receipts.some(({ funcName, content }) => funcName === `${contract}/${name}` && content === data)
      if (owns) keys.push(...movedBy(`${contract}/${name}`, data, namesOf(from, to)))
      if (DEPLOYING.test(`${contract}/${name}`)) keys.push('contracts')
    }
    return { ...at, index, contract, action: name, data, returned: tx.returns[index] ?? '', status, from, to, keys }
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
    const keys = keysOf(namesOf(from, to), contract, action, deployed)
    if (name === 'auth.iost/signUp') keys.push(`created/${tx.publisher}`)
    keys.push(...movedBy(name, content, namesOf(from, to)))
    const place = { ...first, index: first.index + rows.length }
    rows.push({
      ...place,
      contract,
      action,
      data: content,
      returned: '',
      status: statusName(tx.status),
      from,
      to,
      keys,
    })
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
