import { exactIso, startOfDay } from '#chain/time.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { StatePoint } from '../request/range.ts'
import { badRequest } from '../request/refusals.ts'
import { readBlock, readBlockTimes, readOrdinalTimes } from './blocks-at.ts'
import { refuseWhileLoading } from './loading.ts'
import { countPassing } from './ordinal-search.ts'

/** Height and time of a block whose state is requested. */
export type StateMoment = { readonly height: number; readonly time: bigint }

/** The parameters that name a point: `at_block` and `at_time`, or those of one end of a period. */
type End = 'at' | 'start' | 'end'

/**
 * The block after which the state is requested; undefined: none, so the state is that of the answer. Throws
 * 'bad_request' for a block above the published one or a time before the first, 'loading' while such a block
 * may not be loaded yet.
 */
export async function findMoment(
  context: Pick<Context, 'view' | 'node'>,
  { at_block, at_time }: StatePoint,
  end: End = 'at',
): Promise<StateMoment | undefined> {
  if (at_block !== undefined) return resolveBlockMoment(context, at_block, end)
  if (at_time === undefined) return undefined
  const { view } = context
  if (at_time > view.at.time)
    refuseWhileLoading(context, {
      en: `The state at '${end}_time' ${exactIso(at_time)}`,
      zh: `'${end}_time' ${exactIso(at_time)} 时的状态`,
    })
  const [moment] = await findMoments(view, [at_time])
  if (moment !== undefined) return moment
  const genesis = await readBlock(view, 0)
  throw badRequest(
    {
      en: `Parameter '${end}_time' is ${exactIso(at_time)}, before the first block of the chain; it must be at or after ${exactIso(genesis.time)}.`,
      zh: `参数 '${end}_time' 的值为 ${exactIso(at_time)}，早于链上首个区块；不得早于 ${exactIso(genesis.time)}。`,
    },
    { parameter: `${end}_time` },
  )
}

async function resolveBlockMoment(
  context: Pick<Context, 'view' | 'node'>,
  at_block: bigint,
  end: End,
): Promise<StateMoment> {
  const { view } = context
  if (at_block > BigInt(view.at.height)) {
    refuseWhileLoading(context, { en: `The state at block ${at_block}`, zh: `区块 ${at_block} 的状态` })
    throw badRequest(
      {
        en: `Parameter '${end}_block' is ${at_block}, but the last block that is loaded is ${view.at.height}; it must not be above that.`,
        zh: `参数 '${end}_block' 的值为 ${at_block}，而已加载的最新区块为 ${view.at.height}；不得超过该高度。`,
      },
      { parameter: `${end}_block` },
    )
  }
  const { height, time } = await readBlock(view, Number(at_block))
  return { height, time }
}

/** For each time the last published block that is not after it; undefined: the chain is younger. */
export async function findMoments(view: View, times: readonly bigint[]): Promise<readonly (StateMoment | undefined)[]> {
  const heights = await findHeights(view, times)
  const found = await readBlockTimes(
    view,
    heights.filter(height => height >= 0),
  )
  return heights.map(height => {
    const time = found.get(height)
    return time === undefined ? undefined : { height, time }
  })
}

/** For each time the height of the last block that is not after it; -1: the chain is younger. */
async function findHeights(view: View, times: readonly bigint[]): Promise<readonly number[]> {
  const look = (ordinals: readonly number[]) => readOrdinalTimes(view, ordinals)
  const rows = { count: view.at.height + 1, floor: -1n, ceiling: view.at.time, look }
  const counts = await countPassing<bigint>(
    rows,
    times.map(until => time => time <= until),
  )
  return counts.map(count => count - 1)
}

/** The height of the last published block before each of some UTC days since 1970; -1: the chain is younger. */
export async function searchDayEnds(
  { view, dayEnds }: Pick<Context, 'view' | 'dayEnds'>,
  days: readonly number[],
): Promise<readonly number[]> {
  const { height: latest, time } = view.at
  const known = (await dayEnds?.of(view)) ?? new Map<number, number>()
  const unknown = days.filter(day => !known.has(day) && startOfDay(day) <= time)
  const found = await findHeights(
    view,
    unknown.map(day => startOfDay(day) - 1n),
  )
  const ends = new Map([...known, ...unknown.map((day, at) => [day, found[at] ?? -1] as const)])
  if (unknown.length > 0) dayEnds?.keep(view, ends)
  return days.map(day => ends.get(day) ?? latest)
}
