import { formatUnits, parseUnitsLeniently } from '#chain/amount.ts'
import type { Transaction } from '#chain/block.ts'
import { AMOUNT_AT, applies, hasFailed, isMovement } from '#chain/effects.ts'
import { Exact, type ExactJson, writeJson } from '#chain/json.ts'
import { isActionName, isContractId, isPossibleName } from '#chain/names.ts'
import { contracts } from '#indices/contract.ts'
import { type ListDoc, listKey, lists, recordId, toPlace } from '#indices/list.ts'
import { OVERFLOW_BYTES, type RecordDoc } from '#indices/record.ts'
import { countMovement } from './day.ts'
import { findText, parseActionArguments, parseReceipt } from './receipt.ts'
import type { ListCounts, TxScope } from './scope.ts'
import type { State } from './state.ts'
import type { Movement } from './token.ts'
import type { Effects } from './transaction.ts'

type Parties = { readonly from: string; readonly to: string }

/** An action or a receipt: its contract, its name, and its arguments if they are a list. */
type ActionCall = { readonly contract: string; readonly name: string; readonly args: readonly ExactJson[] | undefined }

/** Actions and receipts of system contracts whose arguments name both parties; undefined: no party on that side. */
const FORMS = new Map<string, readonly [from: number | undefined, to: number | undefined]>([
  ['token.iost/transfer', [1, 2]],
  ['token.iost/transferFreeze', [1, 2]],
  ['token.iost/issue', [undefined, 1]],
  ['token.iost/destroy', [1, undefined]],
  ['token721.iost/transfer', [1, 2]],
  ['token721.iost/issue', [undefined, 1]],
  ['gas.iost/pledge', [0, 1]],
  ['gas.iost/unpledge', [1, 0]],
  ['vote_producer.iost/vote', [0, 1]],
  ['vote_producer.iost/unvote', [1, 0]],
  ['ram.iost/buy', [0, 1]],
  ['ram.iost/sell', [0, 1]],
  ['ram.iost/lend', [0, 1]],
])
/** Contracts whose other actions affect the account that their first argument names. */
const FIRST_IS_SUBJECT: ReadonlySet<string> = new Set(['auth.iost', 'vote_producer.iost', 'bonus.iost'])

/**
 * Sender and receiver of a row. Arguments are trusted only if a system contract has that form and they are
 * possible names; every other row goes from the publisher to the contract.
 */
function deriveParties({ contract, name, args }: ActionCall, publisher: string): Parties {
  const plain = { from: publisher, to: contract }
  if (args === undefined || !contract.endsWith('.iost')) return plain
  const form = FORMS.get(`${contract}/${name}`)
  if (form !== undefined) {
    const from = findParty(args, form[0])
    const to = findParty(args, form[1])
    return from === undefined || to === undefined ? plain : { from, to }
  }
  if (!FIRST_IS_SUBJECT.has(contract)) return plain
  const subject = findParty(args, 0)
  if (subject === undefined) return plain
  return subject === publisher && name !== 'signUp' ? plain : { from: publisher, to: subject }
}

function findParty(args: readonly ExactJson[], at: number | undefined): string | undefined {
  if (at === undefined) return ''
  const name = findText(args, at)
  return name !== undefined && isPossibleName(name) ? name : undefined
}

/**
 * Assigns to each action with a movement's name the first unused receipt of the same name with equal
 * arguments. Amounts are compared by value after truncation to the token's decimals, everything else exactly.
 * Each receipt is owned once. One pass over both. Returns the positions of owned receipts by those of the actions.
 */
function assignReceipts(tx: Transaction, movements: ReadonlyMap<number, Movement>): ReadonlyMap<number, number> {
  const owned = new Map<number, number>()
  if (!tx.actions.some(({ contract, actionName }) => isMovement(contract, actionName))) return owned
  const repeated = findRepetition(tx, movements)
  if (repeated !== undefined) return owned.set(0, repeated)
  const decimals = new Map<string, number>()
  const unused = new Map<string, number[]>()
  tx.receipt.receipts.forEach((receipt, at) => {
    const { contract, name, args } = parseReceipt(receipt)
    if (!isMovement(contract, name)) return
    const movement = movements.get(at)
    if (movement !== undefined) decimals.set(movement.token, movement.decimals)
    const key = formatCallKey(name, args, movement?.amount)
    const others = unused.get(key)
    if (others === undefined) unused.set(key, [at])
    else others.push(at)
  })
  // Positions are taken from the front; the reversed order makes each removal one step.
  for (const positions of unused.values()) positions.reverse()
  tx.actions.forEach((action, at) => {
    const { contract, actionName } = action
    const args = isMovement(contract, actionName) ? parseActionArguments(action) : undefined
    if (args === undefined) return
    const receipt = unused.get(formatCallKey(actionName, args, parseClaimedAmount(actionName, args, decimals)))?.pop()
    if (receipt !== undefined) owned.set(at, receipt)
  })
  return owned
}

/**
 * The receipt of the only action if it repeats the action letter by letter, as in nearly all transfers, and
 * no other receipt of that name comes before it. undefined: the values must be compared.
 */
function findRepetition(
  { actions, receipt }: Transaction,
  movements: ReadonlyMap<number, Movement>,
): number | undefined {
  const [action] = actions
  if (action === undefined || actions.length > 1 || movements.size > 1) return undefined
  const args = parseActionArguments(action)
  if (args === undefined) return undefined
  for (const [at, each] of receipt.receipts.entries()) {
    const { contract, name } = parseReceipt(each)
    if (name !== action.actionName || !isMovement(contract, name)) continue
    if (each.content !== action.data) return undefined
    const decimals = new Map([...movements.values()].map(movement => [movement.token, movement.decimals]))
    return parseClaimedAmount(name, args, decimals) === movements.get(at)?.amount ? at : undefined
  }
  return undefined
}

function parseClaimedAmount(
  name: string,
  args: readonly ExactJson[],
  decimals: ReadonlyMap<string, number>,
): bigint | undefined {
  const place = AMOUNT_AT.get(name)
  const places = decimals.get(findText(args, 0) ?? '')
  if (place === undefined || places === undefined) return undefined
  return parseUnitsLeniently(findText(args, place) ?? '', places)
}

/** A key that is equal for equal arguments. `amount` replaces the text of the amount. */
function formatCallKey(name: string, args: readonly ExactJson[], amount: bigint | undefined): string {
  const place = amount === undefined ? undefined : AMOUNT_AT.get(name)
  const parts = args.map((value, at) => {
    if (at === place) return `#${amount}`
    if (typeof value === 'string') return `"${value}`
    if (typeof value === 'number') return `+${value}`
    return value instanceof Exact ? `+${value.text}` : writeJson(value)
  })
  return JSON.stringify([name, ...parts])
}

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
  // A failed transaction may have kept its receipts (`scope.ts`), but none of them took effect.
  const owned = applies(tx) ? assignReceipts(tx, movements) : new Map<number, number>()
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
  // The last issue of contribute of a base transaction pays the parent's witness.
  const own = base && [...movements].findLast(([, { token, from }]) => token === 'contribute' && from === '')?.[0]
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

function add(at: TxScope, row: Row): void {
  const { scope, tx, position } = at
  const { block } = scope
  const { movement, deployed, receipt } = row
  const overflow = isLong(row)
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
    ...(movement === undefined ? {} : { amount: formatUnits(movement.amount, movement.decimals) }),
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

/** Whether the texts of a row are kept in its transaction alone. */
function isLong({ contract, action_name, data, return: returned }: Row): boolean {
  const texts = [contract, action_name, data, returned]
  // A UTF-16 code unit has at most three bytes in UTF-8, so the bytes of most rows need not be counted.
  if (texts.reduce((sum, { length }) => sum + length, 0) * 3 <= OVERFLOW_BYTES) return false
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > OVERFLOW_BYTES
}

/** The accounts whose lists contain a row, each once: its parties, and the caller of an action's own row. */
function listPartyAccounts({ from, to, caller }: Row): readonly string[] {
  const names = new Set([from, to].filter(isPossibleName))
  if (caller !== undefined) names.add(caller)
  return [...names]
}

/** Places of a row in the lists that contain it, each once. */
function listPlaces(at: TxScope, row: Row): readonly bigint[] {
  const { tx, scope } = at
  const { next } = scope.lists
  const { movement } = row
  const accounts = listPartyAccounts(row)
  const places = accounts.map(name => next('account', name))
  if (hasFailed(tx)) places.push(...accounts.map(name => next('failed', name)))
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

/** A list while a block is derived. */
type Draft = {
  readonly id: string
  readonly number: number
  readonly starts: ListDoc['starts']
  count: number
  /** Place of the last row. */
  place: bigint
}

export function createListCounts(state: State, figures: { list_count: number }, partition: number): ListCounts {
  /**
   * By kind and second name, then by the first, in a fraction of the time of one key for all. There should be few second
   * names, since each has a map of its own.
   */
  const named = new Map<string, Map<string, Draft>>()
  const drafts: Draft[] = []
  const open = (group: string, name: string, id: string): Draft => {
    const before = state.get(lists, id)
    if (before === undefined) figures.list_count += 1
    const { number, starts, count } = before ?? { number: figures.list_count, starts: [], count: 0 }
    const draft: Draft = {
      id,
      number,
      // The new row is the first one in the partition if the list has none there yet.
      starts: starts.at(-1)?.[0] === partition ? starts : [...starts, [partition, count + 1]],
      count,
      place: toPlace(number, count),
    }
    drafts.push(draft)
    named.set(group, (named.get(group) ?? new Map<string, Draft>()).set(name, draft))
    return draft
  }
  return {
    next: (kind, name, within = '') => {
      const group = within === '' ? kind : `${kind}/${within}`
      const list = named.get(group)?.get(name) ?? open(group, name, listKey(kind, name, within))
      list.count += 1
      list.place += 1n
      return list.place
    },
    settle: () => {
      for (const { id, number, count, starts } of drafts) state.put(lists, { id, number, count, starts })
    },
  }
}
