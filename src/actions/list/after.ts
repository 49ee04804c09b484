import { highestPossible } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import type { Context } from '../define.ts'
import type { Range } from '../request/range.ts'
import { badRequest } from '../request/refusals.ts'
import type { NumberedList } from './numbered-list.ts'
import { rowsWithin } from './range-of-rows.ts'
import { blockHashes, heightOf, type RowId } from './row-id.ts'

type Standing = Pick<Context, 'view' | 'head' | 'clock'>

/**
 * The number of the row that a caller has got last. Throws 'replaced' when its block is not on the branch any more,
 * 'unavailable' while nobody knows, 'bad_request' when the list has no such row.
 */
export const ordinalOf = async <D>(
  context: Standing,
  list: NumberedList<D>,
  { position, hash }: RowId,
): Promise<number> => {
  const { view } = context
  const height = heightOf(position)
  await requireBlock(context, { height, hash })
  const range: Range = { start_block: BigInt(height), end_block: BigInt(height) }
  const look = (ordinals: readonly number[]) => list.moments(view, ordinals)
  const { before, total } = await rowsWithin({ count: list.count, look }, range, list.end ?? view.at)
  const docs = total === 0 ? [] : await list.docs(view, before + 1, before + total)
  const at = docs.findIndex(doc => list.idOf(doc) === position)
  if (at >= 0) return before + 1 + at
  throw badRequest(
    {
      en: `Parameter 'after' names a row of block ${height} that this list does not have; it must be the id of a row of the same list.`,
      zh: `参数 'after' 所指的区块 ${height} 中的记录不在此列表中；应为同一列表中某条记录的 id。`,
    },
    { parameter: 'after' },
  )
}

/** The block of a row is there: published, or of the branch that is followed. */
const requireBlock = async (
  { view, head, clock }: Standing,
  { height, hash }: { readonly height: number; readonly hash: string },
): Promise<void> => {
  const { at } = view
  if (height <= at.height) {
    if ((await blockHashes(view, [height])).get(height) !== hash) throw replaced(height)
    return
  }
  // Nobody has been given a row of such a block here.
  if (head === undefined || head.status === 'none' || height > highestPossible(at, clock.now()))
    throw beyond(height, at.height)
  if (head.height === undefined || head.height < height) throw unknownYet(height)
  if (head.blocks[height - at.height - 1]?.doc.hash !== hash) throw replaced(height)
}

const beyond = (height: number, published: number): Failure =>
  badRequest(
    {
      en: `Parameter 'after' names a row of block ${height}, but the last block that this service knows is ${published}; it must be the id of a row of the same list.`,
      zh: `参数 'after' 所指的记录位于区块 ${height}，而本服务已知的最新区块为 ${published}；应为同一列表中某条记录的 id。`,
    },
    { parameter: 'after' },
  )

const unknownYet = (height: number): Failure =>
  new Failure('unavailable', `Block ${height} is not known at the moment.`)

const replaced = (height: number): Failure =>
  new Failure(
    'replaced',
    `Block ${height}, which has the row that 'after' names, was replaced by another one. Discard the rows of this block and of those above it; then go on with the id of a row that is left, or from the first page.`,
    {
      zh: `参数 'after' 所指记录所在的区块 ${height} 已被其他区块取代。请丢弃该区块及其之上各区块的记录，再以剩余某条记录的 id 继续，或从第一页重新开始。`,
      details: { parameter: 'after', height },
    },
  )
