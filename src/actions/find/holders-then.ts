import { PublicFailure } from '#failure/failure.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { type ListDoc, listOf, lists } from '#indices/list.ts'
import { series, seriesOf } from '#indices/series.ts'
import type { View } from '#store/port.ts'
import { countRangeRows } from '../list/numbered.ts'
import { orderInRuns } from '../list/whole-list.ts'
import type { Ranked } from './ranking-cache.ts'
import { type CountPart, type RankingContext, readPastRanking } from './ranking-then.ts'
import { heldThenAll, readSums } from './series.ts'
import { rankFigures } from './voters-then.ts'

/** Number of owners whose balances are read at once. */
const AT_ONCE = 500

/**
 * The holders of a token after a block: available amounts above 0, descending, then by name. Throws like `readPastRanking`.
 */
export const readPastHolders = (context: RankingContext, token: string, height: number): Promise<readonly Ranked[]> =>
  readPastRanking(context, {
    name: `holders/${token}`,
    height,
    what: {
      en: `The holders of token '${token}' at block ${height}`,
      zh: `代币 '${token}' 在区块 ${height} 的持有者`,
    },
    state: [balances, series, lists],
    countRows: view => countRows(view, token, height),
    make: (view, part) => read(view, { token, height, part }),
  })

/** The balances and movements that are read if the first set of movements names all holders. */
async function countRows(view: View, token: string, height: number): Promise<number> {
  const movements = await readMovements(view, { token, height })
  const [first] = listReaches(token, movements)
  const at = first === 'until' ? height : view.at.height
  const [holders = 0n] = await readSums(view, [seriesOf.holders(token)], at)
  return Number(holders) + (first === 'until' ? movements.until : movements.count - movements.until)
}

type Since = { readonly token: string; readonly height: number; readonly part: CountPart }

async function read(view: View, since: Since): Promise<readonly Ranked[]> {
  const { token, height } = since
  const movements = await readMovements(view, since)
  // The number of holders at that height is known, so a set that lacks one of them is noticed.
  const [holders = 0n] = await readSums(view, [seriesOf.holders(token)], height)
  const figures = new Map<string, bigint>()
  for (const reach of listReaches(token, movements)) {
    const owners = await readOwners(view, since, { ...movements, reach })
    const fresh = owners.filter(owner => !figures.has(owner))
    for (const [owner, units] of await readFigures(view, since, fresh)) figures.set(owner, units)
    const ranked = rankFigures(figures)
    if (BigInt(ranked.length) === holders) return ranked
  }
  throw new PublicFailure('unavailable', `The holders of token '${token}' at block ${height} are not known.`, {
    zh: `代币 '${token}' 在区块 ${height} 的持有者无法得知。`,
    retryable: false,
  })
}

/** The available amount of each owner at that height. */
async function readFigures(
  view: View,
  { token, height, part }: Since,
  owners: readonly string[],
): Promise<readonly Ranked[]> {
  const figures: Ranked[] = []
  for (let from = 0; from < owners.length; from += AT_ONCE) {
    const some = owners.slice(from, from + AT_ONCE)
    const ids = some.map(owner => balanceId(token, owner))
    const held = await heldThenAll(view, ids, height)
    figures.push(...some.map((owner, at): Ranked => [owner, held[at]?.available ?? 0n]))
    await part(some.length)
  }
  return figures
}

/** Movements up to the block, or those after it. */
type Reach = 'until' | 'since'

/** The rows of all movements of a token: their list, their number, and the number up to the block. */
type Movements = { readonly list: ListDoc | undefined; readonly count: number; readonly until: number }

async function readMovements(view: View, { token, height }: Omit<Since, 'part'>): Promise<Movements> {
  const list = await view.get(lists, listOf.token(token))
  const count = list?.count ?? 0
  const rows = {
    count,
    moments: async (reading: View, ordinals: readonly number[]) =>
      list === undefined ? [] : reading.moments(list, ordinals),
  }
  const { total: until } = await countRangeRows(view, rows, { end_block: BigInt(height) })
  return { list, count, until }
}

/**
 * Sets of rows that name the holders of a token after a block, in the order in which they are tried. `since`: the
 * present holders and the parties of every later movement. `until`: the parties of every movement up to the block. The
 * set with fewer rows is tried first. If it lacks a holder, the other one is added:
 *
 * - `since` lacks owners whose last RAM a later transaction used up, because no row names them. They had received RAM
 *   by a movement before, so `until` includes them.
 * - `until` lacks recipients whose names are invalid, because no row names them. They can never send or use anything,
 *   so `since` includes them.
 *
 * The contribute of blocks has no rows, so its holders of the past are always looked for in `since` first: nobody
 * loses contribute without a movement.
 */
const listReaches = (token: string, { count, until }: Movements): readonly Reach[] =>
  token !== 'contribute' && until < count - until ? ['until', 'since'] : ['since', 'until']

async function readOwners(
  view: View,
  { token, part }: Since,
  { list, count, until, reach }: Movements & { readonly reach: Reach },
): Promise<readonly string[]> {
  const owners = new Set<string>()
  if (reach === 'since')
    for await (const docs of orderInRuns(view, { index: balances, order: 'holders', group: token })) {
      for (const { owner } of docs) owners.add(owner)
      // Each owner counts when its balance is read.
      await part(0)
    }
  const [first, last] = reach === 'until' ? [1, until] : [until + 1, count]
  for (let from = first; list !== undefined && from <= last; from += ROWS) {
    const records = await view.records(list, from, Math.min(last, from + ROWS - 1))
    for (const { from: giver, to } of records) owners.add(giver).add(to)
    await part(records.length)
  }
  return [...owners]
}

/** Number of rows read at once. */
const ROWS = 1_000
