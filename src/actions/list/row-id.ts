import { BASE58_LETTER } from '#chain/base58.ts'
import { blocks } from '#indices/block.ts'
import { blockId, parsePosition } from '#indices/position.ts'
import { missingData } from '#store/missing-data.ts'
import type { View } from '#store/port.ts'
import type { Numbered } from './list-rows.ts'

/**
 * Permanent id of a row, valid even while its block may be replaced: its position in the chain and the hash
 * of its block.
 */
export type RowId = { readonly position: string; readonly hash: string }

export const ROW_ID_PATTERN = `^([0-9]{12}(?:-[0-9]{5}){0,2})-(${BASE58_LETTER}{32,44})$`
const ROW_ID = new RegExp(ROW_ID_PATTERN)

export const rowIdText = ({ position, hash }: RowId): string => `${position}-${hash}`

/** The parts of a row's id; undefined: the text is not one. */
export function readRowId(text: string): RowId | undefined {
  const [, position, hash] = ROW_ID.exec(text) ?? []
  return position === undefined || hash === undefined ? undefined : { position, hash }
}

/** The height in a position. */
export function getPositionHeight(position: string): number {
  const [height] = parsePosition(position) ?? []
  if (height === undefined) throw new TypeError(`'${position}' is no position.`)
  return height
}

/** The ids of rows of a list, in order. `parsePosition` returns the position, like `Listing.idOf`. */
export async function rowIds<D>(
  view: View,
  rows: readonly Numbered<D>[],
  positionOf: (doc: D) => string,
): Promise<readonly string[]> {
  const stored = rows.flatMap(({ doc, above }) => (above === undefined ? [getPositionHeight(positionOf(doc))] : []))
  const hashes = await blockHashes(view, stored)
  return rows.map(({ doc, above }) => {
    const position = positionOf(doc)
    const hash = above?.doc.hash ?? hashes.get(getPositionHeight(position))
    if (hash === undefined) throw missingData(`Block ${getPositionHeight(position)} has rows, and no document.`)
    return rowIdText({ position, hash })
  })
}

/** The ids of rows of stored blocks, by their positions. */
export async function readRowIds(view: View, positions: readonly string[]): Promise<readonly RowId[]> {
  const hashes = await blockHashes(view, positions.map(getPositionHeight))
  return positions.map(position => {
    const hash = hashes.get(getPositionHeight(position))
    if (hash === undefined) throw missingData(`Block ${getPositionHeight(position)} has rows, and no document.`)
    return { position, hash }
  })
}

/** Hashes of stored blocks by height; heights without a stored block are left out. */
export async function blockHashes(view: View, heights: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const ids = [...new Set(heights)].map(blockId)
  const docs = ids.length === 0 ? [] : await view.getMany(blocks, ids)
  return new Map(docs.flatMap(doc => (doc === undefined ? [] : [[doc.height, doc.hash]])))
}
