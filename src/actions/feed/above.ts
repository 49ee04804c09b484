import { type BlockAbove, type HeadAt, headAt, type Shown } from '#head/shown.ts'
import type { Published, View } from '#store/port.ts'
import { recordsAbove } from '../list/above.ts'
import { blockHashes } from '../list/row-id.ts'
import { transactionsAbove } from '../list/transactions.ts'
import type { Followed } from './followed.ts'
import type { Group } from './groups.ts'
import { unlessBroken } from './news.ts'
import type { BlockLines, Known } from './settle.ts'

/** What a look tells of the blocks above to those groups that ask for them, undefined to the others. The store is asked once. */
export const aboveOf = async (
  view: View,
  groups: readonly Group[],
  { since, head }: { readonly since: Published; readonly head: Shown | undefined },
): Promise<readonly (Known | undefined)[]> => {
  if (!groups.some(({ shown }) => shown.isHead)) return groups.map(() => undefined)
  const { at } = view
  const published = Array.from({ length: at.height - since.height }, (_, more) => since.height + 1 + more)
  const hashes = await blockHashes(view, published)
  const now = headAt(head, at)
  return Promise.all(
    groups.map(async group =>
      group.shown.isHead
        ? {
            height: at.height,
            storedHash: (height: number) => hashes.get(height),
            now: await linesOf(view, group, now),
          }
        : undefined,
    ),
  )
}

/** The blocks with rows of a list; those that were written before are not written again. */
const linesOf = async (
  view: View,
  { followed, shown, held }: Group,
  { status, blocks: above }: HeadAt,
): Promise<readonly BlockLines[] | undefined> => {
  if (status !== 'followed') return undefined
  const lines: BlockLines[] = []
  for (const block of above) {
    const { height, hash } = block.doc
    const docs = docsOf(followed, block)
    if (docs.length === 0) continue
    const written =
      held.find(known => known.hash === hash)?.lines ??
      (await unlessBroken(async () => shown.write.lines(await shown.rows(view, docs))))
    // As of a branch that is not known: their rows come when they are irreversible.
    if (written === 'unknown') return undefined
    lines.push({ height, hash, lines: written })
  }
  return lines
}

/** The rows of a block as `Listing.rows` takes them. */
const docsOf = (followed: Followed, block: BlockAbove): readonly unknown[] => {
  const rows =
    followed.kind === 'records'
      ? recordsAbove(followed.key, block)
      : followed.kind === 'blocks'
        ? [block.doc]
        : transactionsAbove(block)
  // Their numbers are not known yet, and not shown.
  return rows.map(doc => ({ seq: 0, doc, above: block }))
}
