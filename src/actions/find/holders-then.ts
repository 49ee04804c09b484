import { PublicFailure } from '#failure/failure.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { blocks } from '#indices/block.ts'
import { listOf, lists } from '#indices/list.ts'
import { blockId } from '#indices/position.ts'
import { seriesOf } from '#indices/series.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { rowsWithin } from '../list/numbered.ts'
import { wholeOrder } from '../list/whole-list.ts'
import type { Ranked } from './kept-rankings.ts'
import { heldThenAll, sumsThen } from './series.ts'
import { rankedBy } from './voters-then.ts'

/** Owners whose balances are read at once. */
const AT_ONCE = 500
/** Work for one page, within the usual time limit of a request; an export may take as long as it takes. */
const MOST_MS = 8_000

type Asked = Pick<Context, 'view' | 'clock' | 'isWhole' | 'rankings'>

/**
 * Who held a token after a block: available amounts above 0, descending, then by name. Throws 'unavailable' when it takes
 * longer than a page may.
 */
export const holdersThen = async (
  context: Asked,
  token: string,
  height: number,
): Promise<readonly Ranked[]> => {
  const { view, rankings } = context
  const block = await view.get(blocks, blockId(height))
  const key = `${token}/${height}/${block?.hash}`
  const known = rankings?.get(key)
  if (known !== undefined) return known.value
  const found = await read(context, token, height)
  rankings?.put(
    key,
    found,
    found.reduce((sum, [owner]) => sum + owner.length + 16, 0),
  )
  return found
}

const read = async (context: Asked, token: string, height: number): Promise<readonly Ranked[]> => {
  const { view, clock, isWhole } = context
  const begun = clock.elapsed()
  const check = (): void => {
    if (isWhole !== true && clock.elapsed() - begun > MOST_MS) throw tooMuch(token, height)
  }
  const owners = [...(await ownersSince(view, { token, height, check }))]
  const figures: Ranked[] = []
  for (let from = 0; from < owners.length; from += AT_ONCE) {
    check()
    const some = owners.slice(from, from + AT_ONCE)
    const ids = some.map(owner => balanceId(token, owner))
    const held = await heldThenAll(view, ids, height)
    figures.push(...some.map((owner, at): Ranked => [owner, held[at]?.available ?? 0n]))
  }
  const ranked = rankedBy(figures)
  // RAM may be used up without a row that names its owner.
  const [holders = 0n] = await sumsThen(view, [seriesOf.holders(token)], height)
  if (BigInt(ranked.length) !== holders)
    throw new PublicFailure(
      'unavailable',
      `The holders of token '${token}' at block ${height} are not known.`,
      {
        zh: `代币 '${token}' 在区块 ${height} 的持有者无法得知。`,
        retryable: false,
      },
    )
  return ranked
}

type Since = { readonly token: string; readonly height: number; readonly check: () => void }

/**
 * All who can have held the token after a block: those who hold it now and the parties of every movement since, since
 * nobody loses the last of a token without one; or the parties of every movement until then, where these are fewer. The
 * contribute of blocks has no rows.
 */
const ownersSince = async (view: View, { token, height, check }: Since): Promise<ReadonlySet<string>> => {
  const list = await view.get(lists, listOf.token(token))
  const count = list?.count ?? 0
  const rows = {
    count,
    moments: async (reading: View, ordinals: readonly number[]) =>
      list === undefined ? [] : reading.moments(list, ordinals),
  }
  const { total: until } = await rowsWithin(view, rows, { end_block: BigInt(height) })
  const isFromStart = token !== 'contribute' && token !== 'ram' && until < count - until
  const owners = new Set<string>()
  if (!isFromStart)
    for (const { owner } of await wholeOrder(view, { index: balances, order: 'holders', group: token }))
      owners.add(owner)
  const [first, last] = isFromStart ? [1, until] : [until + 1, count]
  for (let from = first; list !== undefined && from <= last; from += ROWS) {
    check()
    for (const { from: giver, to } of await view.records(list, from, Math.min(last, from + ROWS - 1)))
      owners.add(giver).add(to)
  }
  return owners
}

/** Rows read at once. */
const ROWS = 1_000

const tooMuch = (token: string, height: number) =>
  new PublicFailure(
    'unavailable',
    `The holders of token '${token}' at block ${height} take longer than ${MOST_MS / 1000} s to find; request them with format=ndjson or format=csv, which have no such limit.`,
    {
      zh: `查找代币 '${token}' 在区块 ${height} 的持有者需要超过 ${MOST_MS / 1000} 秒；请使用没有此限制的 format=ndjson 或 format=csv。`,
      retryable: false,
    },
  )
