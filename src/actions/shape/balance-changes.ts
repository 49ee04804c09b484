import { fromUnits, sum } from '#chain/amount.ts'
import { recordId } from '#indices/position.ts'
import { type ListedRecord, records } from '#indices/record.ts'
import type { Cause } from '#indices/series-entry.ts'
import { applyHeldEntry, type Held, parseHeld } from '#indices/series-replay.ts'
import { missingData } from '#store/missing-data.ts'
import type { View } from '#store/port.ts'
import type { BookingsOf } from '../books/book.ts'
import type { Compat } from '../define.ts'
import { readBodies } from '../find/bodies.ts'
import { readRowTexts } from '../find/overflow.ts'
import { findStakeRows } from '../find/stakes.ts'
import type { SeriesChange } from '../list/changes.ts'
import type { Numbered } from '../list/list-rows.ts'
import type { Rows } from '../list/rows.ts'
import { createStateFold, findOrigins } from './changes.ts'
import { extractParties, extractRowFacts } from './row-facts.ts'

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

const HELD = { from: parseHeld, after: applyHeldEntry }

/** Rows of changes of a balance: the cause of each, and the balance after it. */
export const balanceChangeRows =
  ({ owner, decimal, compat, isLabelled }: BalanceChangesOptions) =>
  async (view: View, docs: readonly Numbered<SeriesChange>[]): Promise<Rows> => {
    const entries = docs.map(({ doc }) => doc.entry)
    const [originOf, found] = await Promise.all([
      findOrigins(view, entries),
      readCauses(view, docs, { owner, isLabelled }),
    ])
    const states = createStateFold<Held>(HELD)
    const shown = (units: bigint): string => fromUnits(units, decimal)
    const rows = docs.map(({ seq, doc: { entry, part, at } }, row) => {
      const { height, cause, change } = entry
      const after = states(part, at)
      // The chain itself releases amounts, before the transactions of the block.
      const isDue = cause.kind === 'due'
      const { created_at, tx_hash } = originOf(entry)
      return {
        ...(compat === 'iostabc' ? {} : { seq }),
        block: height,
        created_at,
        tx_hash: isDue ? null : tx_hash,
        ...(found[row] ?? { action: NAMES[cause.kind] ?? '', counterparty: null, memo: null }),
        change: shown(isDue ? 0n : change),
        balance: shown(after.available),
        frozen: shown(after.frozen),
      }
    })
    return { rows }
  }

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
  readonly isStake?: true | undefined
}

/** Converts rows of changes of one token to bookings. */
export const createChangeBookings =
  (token: string): BookingsOf =>
  ({ rows }) =>
    (rows as readonly Row[])
      .filter(({ change }) => change !== '0')
      .map(({ created_at, balance, frozen, ...row }) => ({
        ...{ time: created_at, token, action: row.action, change: row.change },
        ...{ counterparty: row.counterparty, memo: row.memo, tx_hash: row.tx_hash, isStake: row.isStake === true },
        balance: sum(balance, frozen),
      }))

const idOfRow = (height: number, tx: number, cause: Cause): string | undefined =>
  'index' in cause ? recordId(height, tx, cause.index) : undefined

/**
 * The cause of each change, from its row of `records`; undefined: no row caused it. Throws 'damaged' if that
 * row is missing.
 */
async function readCauses(
  view: View,
  docs: readonly Numbered<SeriesChange>[],
  { owner, isLabelled }: Pick<BalanceChangesOptions, 'owner' | 'isLabelled'>,
) {
  const ids = docs.map(({ doc: { entry } }) => idOfRow(entry.height, entry.tx, entry.cause))
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
