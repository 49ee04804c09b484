import type { View } from '#store/port.ts'
import { blockHashes } from '../list/row-id.ts'
import type { Trail } from './landmarks.ts'
import { MARK, MARK_PATTERN, toMark } from './mark.ts'

/**
 * The end of an id that identifies the chain of the rows before it. When a reader reconnects to any instance,
 * the rows that were rolled back meanwhile can thus be determined. It has the published height, and the ends
 * of the hashes of that block and of few blocks below. A missing block ends the list.
 */
export async function trailText(view: View): Promise<string> {
  const { height, hash } = view.at
  const below = listTrailHeights(height)
  const hashes = await blockHashes(view, below)
  const lost = below.findIndex(each => !hashes.has(each))
  const named = lost < 0 ? below : below.slice(0, lost)
  return `@${height}.${toMark(hash)}${named.map(each => toMark(hashes.get(each) ?? '')).join('')}`
}

/** The heights below one that an id names, at distances that grow sixteenfold. */
function listTrailHeights(height: number): readonly number[] {
  const heights: number[] = []
  for (let distance = 16; distance <= height; distance *= 16) heights.push(height - distance)
  return heights
}

/** The pattern of a trail in an id; its groups are the height and the marks. */
export const TRAIL_PATTERN = `@(0|[1-9][0-9]{0,14})\\.((?:${MARK_PATTERN}){1,13})`

/** A trail read from an id, with only the end of each hash. */
export type ResumeTrail = Trail & { readonly text: string }

const TRAIL = new RegExp(`^${TRAIL_PATTERN}$`)

/** The trail in a text; undefined: the text is not one. */
export function readTrail(text: string): ResumeTrail | undefined {
  const [, height, marks] = TRAIL.exec(text) ?? []
  return height === undefined || marks === undefined ? undefined : parseTrail(height, marks)
}

/** The trail of an id, from the groups of `TRAIL_PATTERN`. */
export function parseTrail(height: string, marks: string): ResumeTrail {
  const heights = [Number(height), ...listTrailHeights(Number(height))]
  const [at = { height: 0, hash: '' }, ...landmarks] = heights
    .slice(0, marks.length / MARK)
    .map((each, index) => ({ height: each, hash: marks.slice(index * MARK, (index + 1) * MARK) }))
  return { at, landmarks: landmarks.toReversed(), text: `@${height}.${marks}` }
}
