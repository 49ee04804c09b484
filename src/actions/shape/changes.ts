import { formatUnits, sum } from '#chain/amount.ts'
import { isBasePlace } from '#chain/base-transaction.ts'
import { toIso } from '#chain/time.ts'
import { listBlockHashes } from '#indices/block.ts'
import { recordId, transactionId } from '#indices/list.ts'
import { type ListedRecord, records } from '#indices/record.ts'
import { applyHeldEntry, type Entry, type Held, parseEntries, parseHeld, type SeriesDoc } from '#indices/series.ts'
import { transactions } from '#indices/transaction.ts'
import { missingData } from '#store/failures.ts'
import type { View } from '#store/port.ts'
import type { BookingsOf } from '../books/open-book.ts'
import type { Compat } from '../define.ts'
import { readBlocks } from '../find/blocks-at.ts'
import type { Numbered, Rows } from '../find/listing.ts'
import { extractParties, extractRowFacts, findStakeRows, readBodies, readRowTexts } from '../find/record-texts.ts'
import type { SeriesChange } from '../find/series.ts'
import { count, defineCreatedTime, seq, txHash } from './results.ts'

/** The first fields of each row in a list of changes. */
export const changeFields = {
  seq: seq(),
  block: count('Block number (height).', '区块高度。'),
  created_at: defineCreatedTime(),
  tx_hash: txHash(),
}

/** The running state of a series: its value at the beginning of a part, and after an entry. */
type Fold<S> = {
  readonly from: (opening: readonly string[]) => S
  /** The state after `times` of the changes that an entry represents. */
  readonly after: (before: S, entry: Entry, times: number) => S
}

type ChangeForm<S, C> = {
  readonly fold: Fold<S>
  readonly compat: Compat
  /** Reads more about each change, if its row needs that. */
  readonly readMore?: (view: View, docs: readonly Numbered<SeriesChange>[]) => Promise<readonly C[]>
}

/**
 * Rows of changes by transactions: each with its block, time and transaction, and fields from the running
 * state after it.
 */
export const changeRows =
  <S, C = undefined>(
    { fold, compat, readMore }: ChangeForm<S, C>,
    shown: (entry: Entry, after: S, more: C | undefined) => object,
  ) =>
  async (view: View, docs: readonly Numbered<SeriesChange>[]): Promise<Rows> => {
    const entries = docs.map(({ doc }) => doc.entry)
    const [originOf, more] = await Promise.all([findOrigins(view, entries), readMore?.(view, docs)])
    const states = createStateFold(fold)
    const rows = docs.map(({ seq, doc: { entry, part, at } }, row) => ({
      ...(compat === 'iostabc' ? {} : { seq }),
      block: entry.height,
      ...originOf(entry),
      ...shown(entry, states(part, at), more?.[row]),
    }))
    return { rows }
  }

/** Returns the running state after change `at` of a part; each part is traversed once. */
function createStateFold<S>({ from, after }: Fold<S>) {
  const known = new Map<SeriesDoc, readonly Reached<S>[]>()
  const all = (part: SeriesDoc): readonly Reached<S>[] => {
    let [state, number] = [from(part.opening), 0]
    return parseEntries(part.entries, part.height).map(entry => {
      const reached = { entry, before: state, number }
      state = after(state, entry, entry.times)
      number += entry.times
      return reached
    })
  }
  return (part: SeriesDoc, at: number): S => {
    const states = known.get(part) ?? all(part)
    known.set(part, states)
    const found = states.findLast(({ number }) => number <= at)
    if (found === undefined || at >= part.count) throw missingData(`Part ${part.part} of a series lacks change ${at}.`)
    return after(found.before, found.entry, at - found.number + 1)
  }
}

/** An entry with the state before it and the number of its first change in its part. */
type Reached<S> = { readonly entry: Entry; readonly before: S; readonly number: number }

type ChangePlace = Pick<Entry, 'height' | 'tx'>

/** The time of a change's block, and the hash of the transaction at its place. */
type ChangeOrigin = { readonly created_at: string; readonly tx_hash: string }

/**
 * Reads where changes come from. The block's own document has the hash of its base transaction, which the index of
 * transactions lacks. Throws 'damaged' if a document is missing.
 */
async function findOrigins(view: View, places: readonly ChangePlace[]): Promise<(place: ChangePlace) => ChangeOrigin> {
  const heights = [...new Set(places.map(({ height }) => height))]
  const plain = places.filter(place => !isBasePlace(place))
  const ids = [...new Set(plain.map(({ height, tx }) => transactionId(height, tx)))]
  const [blocks, docs] = await Promise.all([readBlocks(view, heights), view.getMany(transactions, ids)])
  const blockOf = new Map(blocks.map(block => [block.height, block]))
  const hashes = new Map(ids.map((id, at) => [id, docs[at]?.hash]))
  return place => {
    const id = transactionId(place.height, place.tx)
    const block = blockOf.get(place.height)
    const tx_hash = block !== undefined && isBasePlace(place) ? listBlockHashes(block)[0] : hashes.get(id)
    if (tx_hash === undefined) throw missingData(`Transaction '${id}' made a change, and has no document.`)
    return { created_at: toIso(block?.time ?? 0n), tx_hash }
  }
}

/** Names of balance changes that no record caused. */
const NAMES: Readonly<Record<string, string>> = {
  due: 'release',
  block: 'contribute',
  ram: 'ram',
  tx: 'transaction',
}

type BalanceChangesOptions = {
  readonly owner: string
  readonly decimal: number
  readonly compat: Compat
  /** Whether the rows become bookings with labels, which need to know about stakes. */
  readonly isLabelled: boolean
}

/** Rows of changes of a balance: the cause of each, and the balance after it. */
export function balanceChangeRows({ owner, decimal, compat, isLabelled }: BalanceChangesOptions) {
  const shown = (units: bigint): string => formatUnits(units, decimal)
  const form: ChangeForm<Held, Cause> = {
    fold: { from: parseHeld, after: applyHeldEntry },
    compat,
    readMore: (view, docs) => readCauses(view, docs, { owner, isLabelled }),
  }
  return changeRows(form, ({ cause, change }, after, found) => {
    // The chain itself releases amounts, before the transactions of the block.
    const isDue = cause.kind === 'due'
    return {
      ...(isDue ? { tx_hash: null } : {}),
      ...(found ?? { action: NAMES[cause.kind] ?? '', counterparty: null, memo: null }),
      change: shown(isDue ? 0n : change),
      balance: shown(after.available),
      frozen: shown(after.frozen),
    }
  })
}

type Cause = Pick<Row, 'action' | 'counterparty' | 'memo' | 'isStake'> | undefined

/** The fields of a row from which bookings are made. */
type Row = {
  readonly created_at: string
  readonly action: string
  readonly counterparty: string | null
  readonly memo: string | null
  readonly change: string
  readonly balance: string
  readonly frozen: string
  readonly tx_hash: string | null
  readonly isStake?: boolean | undefined
}

/** Converts rows of changes of one token to bookings. */
export const createChangeBookings =
  (token: string): BookingsOf =>
  ({ rows }) =>
    (rows as readonly Row[])
      .filter(({ change }) => change !== '0')
      .map(({ created_at, balance, frozen, ...row }) => ({
        time: created_at,
        token,
        action: row.action,
        change: row.change,
        counterparty: row.counterparty,
        memo: row.memo,
        tx_hash: row.tx_hash,
        isStake: row.isStake === true,
        balance: sum(balance, frozen),
      }))

/**
 * The cause of each change, from its row of `records`; undefined: no row caused it. Throws 'damaged' if that
 * row is missing.
 */
async function readCauses(
  view: View,
  docs: readonly Numbered<SeriesChange>[],
  { owner, isLabelled }: Pick<BalanceChangesOptions, 'owner' | 'isLabelled'>,
): Promise<readonly Cause[]> {
  const ids = docs.map(({ doc: { entry } }) =>
    'index' in entry.cause ? recordId(entry.height, entry.tx, entry.cause.index) : undefined,
  )
  const each = [...new Set(ids.flatMap(id => id ?? []))]
  const found = await view.getMany(records, each)
  const known = new Map<string, ListedRecord>()
  for (const [at, id] of each.entries()) {
    const record = found[at]
    if (record === undefined) throw missingData(`Record '${id}' changed a balance, and is not stored.`)
    known.set(id, record)
  }
  const texts = await readRowTexts(bodies => readBodies(view, bodies), [...known.values()])
  const stakes = isLabelled ? await findStakeRows(bodies => readBodies(view, bodies), [...known.values()]) : undefined
  return ids.map(id => {
    const record = id === undefined ? undefined : known.get(id)
    if (record === undefined) return undefined
    const own = texts.get(record.id) ?? record
    const { from, to } = extractParties(own)
    const other = from === owner ? to : from
    return {
      action: own.action_name,
      counterparty: other === '' ? null : other,
      memo: extractRowFacts(record, own).memo ?? null,
      ...(stakes?.has(record.id) === true ? { isStake: true } : {}),
    }
  })
}
