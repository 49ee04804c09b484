import { recordId, TX_PLACES } from '#indices/position.ts'
import type { View } from '#store/port.ts'
import { isOnChain, readBlock } from '../find/blocks-at.ts'
import { getPositionHeight, ROW_ID_PATTERN, type RowId, readRowId, rowIdText } from '../list/row-id.ts'
import type { FeedEnd } from './message.ts'
import { findCommonHeight, formatTrail, parseTrail, readTrail, TRAIL_PATTERN, type Trail } from './trail.ts'

/**
 * The last row that a reader of a searched feed received. With a trail, the end of a block: the reader has
 * not received a row.
 */
export type LastRow = RowId & { readonly trail?: Trail | undefined }

export const LAST_ROW_PATTERN = `${ROW_ID_PATTERN.slice(0, -1)}(?:${TRAIL_PATTERN})?$`

export const lastRowText = (last: LastRow): string =>
  `${rowIdText(last)}${last.trail === undefined ? '' : formatTrail(last.trail)}`

/** The parts of an id; undefined: the text is not one. */
export function readLastRow(text: string): LastRow | undefined {
  const end = text.indexOf('@')
  if (end < 0) return readRowId(text)
  const trail = parseTrail(text.slice(end))
  const row = readRowId(text.slice(0, end))
  return row && trail && { ...row, trail }
}

/** The position after all rows of a block, for a reader that has not received a row. */
export const endOfBlock = async (view: View, block: { readonly height: number; readonly hash: string }) => ({
  position: recordId(block.height, TX_PLACES - 1, TX_PLACES - 1),
  hash: block.hash,
  trail: await readTrail(view),
})

/** The reset for a reader that has not received a row, if the block of its position was rolled back. */
export async function findReset(
  view: View,
  last: LastRow | undefined,
): Promise<Extract<FeedEnd, { kind: 'reset' }> | undefined> {
  if (last?.trail === undefined) return undefined
  if (await isOnChain(view, { height: getPositionHeight(last.position), hash: last.hash })) return undefined
  const height = Math.max(0, await findCommonHeight(view, last.trail))
  const left = await endOfBlock(view, await readBlock(view, height))
  return { kind: 'reset', seq: undefined, id: lastRowText(left), height }
}
