import { fromUnits } from '#chain/amount.ts'
import { applies, hasFailed, isMovement } from '#chain/effects.ts'
import { isActionName, isContractId, isPossibleName } from '#chain/names.ts'
import { contracts } from '#indices/contract.ts'
import { type ListDoc, type ListKind, listKey, lists, toPlace } from '#indices/list.ts'
import { recordId } from '#indices/position.ts'
import { OVERFLOW_BYTES, type RecordDoc } from '#indices/record.ts'
import { countMovement } from './day.ts'
import { namesByKind } from './names-by-kind.ts'
import { deriveParties, listPartyAccounts, type Ownership, ownership, type Parties } from './parties.ts'
import { parseActionArguments, parseReceipt } from './receipt.ts'
import type { ListCounts, TxScope } from './scope.ts'
import type { State } from './state.ts'
import type { Movement } from './token.ts'
import type { Effects } from './transaction.ts'

/** A row before it has an id, a time and places. */
type Row = Parties & {
  readonly index: number
  readonly contract: string
  readonly action_name: string
  readonly data: string
  readonly return: string
  /** The caller of the action, if the row is an action's own. */
  readonly caller: string | undefined
  readonly movement: Movement | undefined
  readonly signUp: boolean
  /** Id of the contract that the action deployed. */
  readonly deployed: string | undefined
  /** Position of the receipt, if the row is not an action's own. */
  readonly receipt: number | undefined
}

/**
 * Adds a transaction's rows: one for each of its actions, then one for each token movement and sign-up that no action
 * owns. A base transaction has only movements, without the contribute that it pays for the parent block.
 */
export function addRecords(at: TxScope, { movements, deployed }: Effects, base: boolean): void {
  const { tx } = at
  // A failed transaction may have kept its receipts (`eras.ts`), but none of them took effect.
  const owned: Ownership = applies(tx) ? ownership(tx, movements) : new Map()
  const caller = isPossibleName(tx.publisher) ? tx.publisher : undefined
  if (!base)
    tx.actions.forEach((action, index) => {
      const { contract, actionName, data } = action
      const receipt = owned.get(index)
      add(at, {
        ...deriveParties({ contract, name: actionName, args: parseActionArguments(action) }, tx.publisher),
        index,
        contract,
        action_name: actionName,
        data,
        return: tx.receipt.returns[index] ?? '',
        caller,
        movement: receipt === undefined ? undefined : movements.get(receipt),
        signUp: receipt !== undefined && contract === 'auth.iost',
        deployed: deployed.get(index),
        receipt: undefined,
      })
    })
  if (!applies(tx)) return
  const taken = new Set(owned.values())
  const own = base ? ownContribute(movements) : undefined
  let index = tx.actions.length
  tx.receipt.receipts.forEach((receipt, position) => {
    const parsed = parseReceipt(receipt)
    const { contract, name } = parsed
    if (!isMovement(contract, name) || taken.has(position) || position === own) return
    add(at, {
      ...deriveParties(parsed, tx.publisher),
      index,
      contract,
      action_name: name,
      data: receipt.content,
      return: '',
      caller: undefined,
      movement: movements.get(position),
      signUp: contract === 'auth.iost',
      deployed: undefined,
      receipt: position,
    })
    index += 1
  })
}

/** The last issue of contribute of a base transaction pays the parent's witness. */
function ownContribute(movements: ReadonlyMap<number, Movement>): number | undefined {
  let last: number | undefined
  for (const [position, { token, from }] of movements) if (token === 'contribute' && from === '') last = position
  return last
}

function add(at: TxScope, row: Row): void {
  const { scope, tx, position } = at
  const { block } = scope
  const overflow = isLong(row)
  const { movement, deployed, receipt } = row
  const doc: RecordDoc = {
    id: recordId(block.height, position, row.index),
    height: block.height,
    tx: position,
    index: row.index,
    tx_hash: tx.hash,
    time: block.time,
    contract: overflow ? '' : row.contract,
    action_name: overflow ? '' : row.action_name,
    data: overflow ? '' : row.data,
    return: overflow ? '' : row.return,
    status_code: tx.receipt.statusCode,
    from: row.from,
    // The name of a contract as claimed by an action can be of any length; the action still has it.
    to: overflow && !isPossibleName(row.to) ? '' : row.to,
    ...(movement === undefined ? {} : { amount: fromUnits(movement.amount, movement.decimals) }),
    ...(row.signUp ? { creator: tx.publisher } : {}),
    ...(deployed === undefined ? {} : { deployed }),
    ...(receipt === undefined ? {} : { receipt }),
    overflow,
    places: listPlaces(at, row),
  }
  scope.records.push(doc)
  if (movement !== undefined) {
    countMovement(scope, movement)
    scope.series.row(movement, row.index)
  }
  scope.statistics.record_count += 1
}

/** Places of a row in the lists that contain it, each once. */
function listPlaces(at: TxScope, row: Row): readonly bigint[] {
  const { tx, scope } = at
  const { next } = scope.lists
  const { movement } = row
  const accounts = listPartyAccounts(row, row.caller)
  const places = accounts.map(name => next('account', name))
  if (hasFailed(tx)) for (const name of accounts) places.push(next('failed', name))
  addContract(places, at, row)
  if (row.signUp) places.push(next('created', tx.publisher))
  if (row.deployed !== undefined) places.push(next('contracts', ''))
  if (movement !== undefined) {
    const { token, from, to } = movement
    places.push(next('token', token))
    for (const name of accounts) {
      if (name !== from && name !== to) continue
      places.push(next('moved', name, token))
      // An account that moves a token to itself receives nothing.
      if (name !== from) places.push(next('received', name), next('receivedOf', name, token))
    }
  }
  return places
}

/** Adds the places in a contract's lists if it exists: a failed action cannot create them by merely naming one. */
function addContract(places: bigint[], { scope }: TxScope, { contract, action_name, caller }: Row): void {
  if (!isContractId(contract) || scope.state.get(contracts, contract) === undefined) return
  const { next } = scope.lists
  places.push(next('contract', contract))
  if (!isActionName(action_name)) return
  places.push(next('action', contract, action_name))
  if (caller !== undefined) places.push(next('called', caller, `${contract}/${action_name}`))
}

function isLong({ contract, action_name, data, return: returned }: Row): boolean {
  const letters = contract.length + action_name.length + data.length + returned.length
  // A UTF-16 code unit has at most three bytes in UTF-8, so most rows need not be counted.
  if (letters * 3 <= OVERFLOW_BYTES) return false
  const bytes = [contract, action_name, data, returned].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return bytes > OVERFLOW_BYTES
}

/** A list while a block is derived. */
type Draft = {
  readonly id: string
  readonly number: number
  readonly starts: ListDoc['starts']
  count: number
  /** Place of the last row. */
  place: bigint
}

/** `partition`: the partition of the block's rows. */
export function listCounts(state: State, figures: { list_count: number }, partition: number): ListCounts {
  const named = namesByKind<ListKind, Draft>()
  const drafts: Draft[] = []
  const open = (id: string): Draft => {
    const before = state.get(lists, id)
    if (before === undefined) figures.list_count += 1
    const { number, starts, count } = before ?? { number: figures.list_count, starts: [], count: 0 }
    const draft = { id, number, starts: extendStarts(starts, partition, count), count, place: toPlace(number, count) }
    drafts.push(draft)
    return draft
  }
  return {
    next: (kind, name, within = '') => {
      const names = named(kind, within)
      let list = names.get(name)
      if (list === undefined) {
        list = open(listKey(kind, name, within))
        names.set(name, list)
      }
      list.count += 1
      list.place += 1n
      return list.place
    },
    settle: () => {
      for (const { id, number, count, starts } of drafts) state.put(lists, { id, number, count, starts })
    },
  }
}

/** The starts of a list before a new row, which is the first in the partition if the list has none there yet. */
const extendStarts = (starts: ListDoc['starts'], partition: number, count: number): ListDoc['starts'] =>
  starts.at(-1)?.[0] === partition ? starts : [...starts, [partition, count + 1]]
