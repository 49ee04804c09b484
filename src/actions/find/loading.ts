import { Failure } from '#failure/failure.ts'
import type { Context, Text } from '../define.ts'
import { RANGE_NAMES, type RowRange, rangeText } from '../request/range.ts'
import { quoteGiven } from '../request/refusals.ts'

/** Number of blocks by which a load may lag before "not found" is no longer reliable. */
export const BEHIND = 1000

type LoadingContext = Pick<Context, 'view' | 'node'>

/** Whether things that exist may be missing. This is the only way in which answers from the store depend on a node. */
export const isCatchingUp = (context: LoadingContext): boolean => getLoading(context).isBehind

/** Loaded height and last irreversible block, and whether the load is so far behind that things may be missing. */
function getLoading({ view, node }: LoadingContext) {
  const { at } = view
  const lib = Math.max(at.lib, node?.lastInfo()?.libBlock ?? 0)
  return { height: at.height, lib, isBehind: lib - at.height > BEHIND }
}

/**
 * The failure for a thing that is not stored: 'not_found', or 'loading' while the load is so far behind the
 * node's last irreversible block that the thing may exist.
 * @param what the thing with its name, as the beginning of a sentence: `Account 'alice00'`.
 */
export function absent(context: LoadingContext, what: Text): Failure {
  const { height, lib, isBehind } = getLoading(context)
  if (isBehind) return loading({ height, lib }, what)
  return new Failure('not_found', `${what.en} does not exist at block ${height}.`, {
    zh: `${addSpace(what.zh)}不存在（截至区块 ${height}）。`,
    details: { height, lib },
  })
}

/** Throws 'loading' while a thing that is not stored may exist; `what` as in `absent`. */
export function refuseWhileLoading(context: LoadingContext, what: Text): void {
  const { height, lib, isBehind } = getLoading(context)
  if (isBehind) throw loading({ height, lib }, what)
}

/**
 * Throws 'loading' when a range of a list of `count` rows extends beyond the loaded blocks while the load is
 * far behind: rows that exist would be missing. A range without an end covers the loaded blocks, as lists do.
 * A start right after the last row is allowed, because a client that follows the list has it.
 */
export function refuseBeyondLoaded(context: LoadingContext, range: RowRange, count: number): void {
  const { at } = context.view
  const { height, lib, isBehind } = getLoading(context)
  if (!isBehind) return
  const loaded = {
    end_block: BigInt(height),
    start_block: BigInt(height),
    end_time: at.time,
    start_time: at.time,
    end_date: at.time,
    start_date: at.time,
    end_seq: BigInt(count),
    start_seq: BigInt(count + 1),
  }
  for (const name of RANGE_NAMES) {
    const value = range[name]
    if (value === undefined || value <= loaded[name]) continue
    const what: Text = {
      en: `The data for '${name}' ${rangeText(name, value)}`,
      zh: `区间端点 '${name}' ${rangeText(name, value)}`,
    }
    throw loading({ height, lib, parameter: name }, what)
  }
}

type LoadingDetails = {
  readonly height: number
  readonly lib: number
  /** The parameter whose value is not loaded yet. */
  readonly parameter?: string
}

function loading(details: LoadingDetails, what: Text): Failure {
  const { height, lib } = details
  return new Failure('loading', `${what.en} is not available yet: loaded up to block ${height} of ${lib}.`, {
    zh: `${addSpace(what.zh)}暂不可用：目前已加载到区块 ${height}，最新的不可逆区块为 ${lib}。`,
    details,
  })
}

/** Adds a space unless the text ends in a Chinese character: it separates names and numbers from Chinese. */
const addSpace = (zh: string): string => (/\p{Script=Han}$/u.test(zh) ? zh : `${zh} `)

const NOUNS = {
  account: ['Account', '账户'],
  block: ['Block', '区块'],
  transaction: ['Transaction', '交易'],
  contract: ['Contract', '合约'],
  token: ['Token', '代币'],
  collection: ['Collection', '合集'],
  nft: ['NFT', 'NFT'],
  producer: ['Producer', '生产者'],
} as const

/** The failure for a requested thing that does not exist ('not_found', or 'loading'). */
export function unknown(context: Pick<Context, 'view' | 'node'>, kind: keyof typeof NOUNS, name: string): Failure {
  const [en, zh] = NOUNS[kind]
  return absent(context, { en: `${en} ${quoteGiven(name)}`, zh: `${zh} ${quoteGiven(name)}` })
}

/**
 * The things that exist, of several that a list names, in the order of their names. Throws the failure for one that
 * does not exist. With `compat=iostabc` an unknown name is an empty list, so what the others have is answered, and the
 * failure is thrown only where nothing was found.
 */
export function requireFound<T>(
  context: Pick<Context, 'view' | 'node' | 'compat'>,
  kind: keyof typeof NOUNS,
  found: readonly (readonly [name: string, one: T | undefined])[],
): readonly T[] {
  const all = found.flatMap(([, one]) => (one === undefined ? [] : [one]))
  for (const [name, one] of found) {
    if (one !== undefined) continue
    const failure = unknown(context, kind, name)
    if (context.compat !== 'iostabc' || all.length === 0) throw failure
    toNull(failure)
  }
  return all
}

/** null for a thing that does not exist, in answers about several. Throws the failure if it may exist ('loading'). */
export function toNull(failure: Failure): null {
  if (failure.kind !== 'not_found') throw failure
  return null
}
