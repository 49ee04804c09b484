import { BASE58_LETTER } from '#chain/base58.ts'
import { blocks } from '#indices/block.ts'
import { blockId, positionOf } from '#indices/position.ts'
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
export const readRowId = (text: string): RowId | undefined => {
  const [, position, hash] = ROW_ID.exec(text) ?? []
  return position === undefined || hash === undefined ? undefined : { position, hash }
}

/** The height in a position. */
export const heightOf = (position: string): number => {
  const [height] = positionOf(position) ?? []
  if (height === undefined) throw new TypeError(`'${position}' is no position.`)
  return height
}

/** The ids of rows of a list, in order. `positionOf` returns the position, like `Listing.idOf`. */
export const rowIds = async <D>(
  view: View,
  rows: readonly Numbered<D>[],
  positionOf: (doc: D) => string,
): Promise<readonly string[]> => {
  const stored = rows.flatMap(({ doc, above }) => (above === undefined ? [heightOf(positionOf(doc))] : []))
  const hashes = await blockHashes(view, stored)
  return rows.map(({ doc, above }) => {
    const position = positionOf(doc)
    const hash = above?.doc.hash ?? hashes.get(heightOf(position))
    if (hash === undefined) throw missingData(`Block ${heightOf(position)} has rows, and no document.`)
    return rowIdText({ position, hash })
  })
}

/** The ids of rows of stored blocks, by their positions. */
export const rowIdsOf = async (view: View, positions: readonly string[]): Promise<readonly RowId[]> => {
  const hashes = await blockHashes(view, positions.map(heightOf))
  return positions.map(position => {
    const hash = hashes.get(heightOf(position))
    if (hash === undefined) throw missingData(`Block ${heightOf(position)} has rows, and no document.`)
    return { position, hash }
  })
}

/** Hashes of stored blocks by height; heights without a stored block are left out. */
export const blockHashes = async (view: View, heights: readonly number[]): Promise<ReadonlyMap<number, string>> => {
  const ids = [...new Set(heights)].map(blockId)
  const docs = ids.length === 0 ? [] : await view.getMany(blocks, ids)
  return new Map(docs.flatMap(doc => (doc === undefined ? [] : [[doc.height, doc.hash]])))
}
