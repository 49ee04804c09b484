import { type HeadAt, type HeadBlock, rowsOfList } from '#head/head-state.ts'
import { transactionId } from '#indices/position.ts'
import type { ListedRecord } from '#indices/record.ts'
import type { Moment, View } from '#store/port.ts'
import { readBodies } from '../find/bodies.ts'
import type { Bodies } from '../find/overflow.ts'
import type { Numbered, OrdinalList } from './list-rows.ts'

/** A row of a head block, with the height and time of the block. */
type Above<D> = { readonly doc: D; readonly made: Moment; readonly block: HeadBlock }

/**
 * A list followed by the rows of the head blocks. Their numbers continue those of the list, as they will once they are
 * irreversible, so ranges and pages work over both parts like over one list. The numbers are not shown.
 */
export function withHead<D>(
  list: OrdinalList<D>,
  head: HeadAt | undefined,
  rowsOf: (block: HeadBlock) => readonly D[],
): OrdinalList<D> {
  const tip = head?.blocks.at(-1)?.doc
  if (head === undefined || tip === undefined) return list
  const above: Above<D>[] = []
  for (const block of head.blocks) {
    const { height, time } = block.doc
    for (const doc of rowsOf(block)) above.push({ doc, made: { height, time }, block })
  }
  const { count } = list
  const behind = (ordinal: number): Above<D> => {
    const row = above[ordinal - count - 1]
    if (row === undefined) throw new TypeError(`There is no row ${ordinal} of ${count + above.length}.`)
    return row
  }
  return {
    followed: list.followed,
    idOf: list.idOf,
    count: count + above.length,
    above: { stored: count, blockOf: ordinal => behind(ordinal).block },
    end: { height: tip.height, time: tip.time },
    moments: async (view, ordinals) => {
      const stored = ordinals.filter(ordinal => ordinal <= count)
      const others = ordinals.slice(stored.length).map(ordinal => behind(ordinal).made)
      return stored.length === 0 ? others : [...(await list.moments(view, stored)), ...others]
    },
    docs: async (view, first, last) => {
      const stored = first > count ? [] : await list.docs(view, first, Math.min(last, count))
      return [
        ...stored,
        ...above.slice(Math.max(0, first - count - 1), Math.max(0, last - count)).map(({ doc }) => doc),
      ]
    },
  }
}

/** The rows of a list of records in a head block. */
export const headRecords = (list: string, block: HeadBlock): readonly ListedRecord[] =>
  rowsOfList(block, list).map(({ doc }) => doc)

/** Whether a list has rows in the head blocks. */
export const isListedAtHead = (head: HeadAt | undefined, list: string): boolean =>
  head?.blocks.some(block => rowsOfList(block, list).length > 0) ?? false

/** The node's transaction objects of some rows, stored or in head blocks (`readBodies`). */
export function createBodyReader(view: View, rows: readonly Numbered<ListedRecord>[]): Bodies {
  const blocks = new Map(rows.flatMap(({ above, doc }) => (above === undefined ? [] : [[doc.id, above]])))
  return async docs => {
    const stored = docs.filter(({ id }) => !blocks.has(id))
    const bodies = new Map(stored.length === 0 ? [] : await readBodies(view, stored))
    for (const { id, height, tx } of docs) {
      const body = blocks.get(id)?.bodies[tx]
      if (body !== undefined) bodies.set(transactionId(height, tx), body)
    }
    return bodies
  }
}
