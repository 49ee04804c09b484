import type { Published } from '#store/port.ts'
import { NOTHING_PROVED, type ProvedRange, trimProofs } from '#store/published.ts'

/**
 * A range of blocks with their level of proof; without `level`, they were loaded by a version that did not record it.
 */
type Stretch = Pick<ProvedRange, 'from' | 'to'> & Partial<Pick<ProvedRange, 'level' | 'agreed'>>

/** All blocks up to the published one, split by their level of proof: few ranges, without a gap. */
function listProvedStretches({ height, proved = NOTHING_PROVED }: Published): readonly Stretch[] {
  const stretches: Stretch[] = []
  let next = 0
  for (const range of trimProofs(proved, height + 1).ranges) {
    if (range.from > next) stretches.push({ from: next, to: range.from - 1 })
    stretches.push(range)
    next = range.to + 1
  }
  if (next <= height) stretches.push({ from: next, to: height })
  return stretches
}

/** One line for each range, and one for receipts whose bytes a node had lost. */
export function provedLines(published: Published): readonly string[] {
  const lost = published.proved?.lost ?? 0
  return [
    ...listProvedStretches(published).map(({ from, to, level, agreed }) => {
      const blocks = from === to ? `block ${from}` : `blocks ${from} to ${to}`
      const how = level ?? 'not recorded, at best linked'
      return `${blocks}: ${how}${agreed === true ? ', and other nodes agreed' : ''}`
    }),
    ...(lost === 0 ? [] : [`${lost} receipts by the raw block, since the node's JSON had lost bytes`]),
  ]
}

/** The same information as JSON values. */
export const provedJson = (published: Published) => ({
  ranges: listProvedStretches(published).map(({ from, to, level, agreed }) => ({
    from,
    to,
    level: level ?? 'not recorded',
    agreed: agreed === true,
  })),
  lost_receipts: published.proved?.lost ?? 0,
})
