import { BASE58_LETTER } from '#chain/base58.ts'

/**
 * Permanent id of a row, valid even while its block may be replaced: its position in the chain and the hash
 * of its block. A file of its own, because `find/blocks-at.ts` and `range.ts` both use it.
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
