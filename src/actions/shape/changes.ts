import { isBasePlace } from '#chain/base-transaction.ts'
import { toIso } from '#chain/time.ts'
import { listBlockHashes } from '#indices/block.ts'
import { transactionId } from '#indices/position.ts'
import type { SeriesDoc } from '#indices/series.ts'
import { type Entry, parseEntries } from '#indices/series-entry.ts'
import { transactions } from '#indices/transaction.ts'
import { missingData } from '#store/missing-data.ts'
import type { View } from '#store/port.ts'
import type { Compat } from '../define.ts'
import { readBlocks } from '../find/blocks-at.ts'
import type { SeriesChange } from '../list/changes.ts'
import type { Numbered } from '../list/list-rows.ts'
import type { Rows } from '../list/rows.ts'
import { count, defineCreatedTime, seq, txHash } from './results.ts'

/** The first fields of each row in a list of changes. */
export const changeFields = {
  seq: seq(),
  block: count('Block number (height).', '区块高度。'),
  created_at: defineCreatedTime(),
  tx_hash: txHash(),
}

/** The running state of a series: its value at the beginning of a part, and after an entry. */
export type Fold<S> = {
  readonly from: (opening: readonly string[]) => S
  /** The state after `times` of the changes that an entry represents. */
  readonly after: (before: S, entry: Entry, times: number) => S
}

/**
 * Rows of changes by transactions: each with its block, time and transaction, and fields from the running
 * state after it.
 */
export const changeRows =
  <S>(fold: Fold<S>, compat: Compat, shown: (entry: Entry, after: S) => object) =>
  async (view: View, docs: readonly Numbered<SeriesChange>[]): Promise<Rows> => {
    const originOf = await findOrigins(
      view,
      docs.map(({ doc }) => doc.entry),
    )
    const states = createStateFold(fold)
    const rows = docs.map(({ seq, doc: { entry, part, at } }) => ({
      ...(compat === 'iostabc' ? {} : { seq }),
      block: entry.height,
      ...originOf(entry),
      ...shown(entry, states(part, at)),
    }))
    return { rows }
  }

/** Returns the running state after change `at` of a part; each part is traversed once. */
export function createStateFold<S>({ from, after }: Fold<S>) {
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
export async function findOrigins(
  view: View,
  places: readonly ChangePlace[],
): Promise<(place: ChangePlace) => ChangeOrigin> {
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
