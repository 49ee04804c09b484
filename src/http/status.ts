import { BEHIND } from '#actions/find/loading.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Published, Store } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import type { Handler } from './exchange.ts'
import { JSON_TYPE, type Reply, textReply } from './reply.ts'

const NOT_CACHED = { 'Cache-Control': 'no-store' }
/** Anybody may ask for readiness, so the store is asked this often at most, in milliseconds. */
const KEPT_MS = 500
/** A store that needs longer to return its height is too slow for any request. */
const STORE_MS = 1_000

/** `/health`: the process is up. Asks nothing of anybody. */
export const healthHandler =
  (version: string): Handler =>
  async () =>
    textReply(200, { type: JSON_TYPE, text: writeJson({ status: 'ok', version }) }, { headers: NOT_CACHED })

export type ReadyOptions = {
  readonly store: Pick<Store, 'published' | 'whole'>
  readonly node: Node | undefined
  readonly version: string
  readonly clock: Pick<Clock, 'elapsed'>
}

/**
 * `/ready`: 200 when the service is ready to answer; 503 with the reason while nothing is published, the store is out
 * of reach, the load is more than 1,000 blocks behind, or no node tells how far it is behind. `behind` is null when it
 * is unknown; a service that follows no node is ready all the same.
 */
export const readyHandler = ({ store, node, version, clock }: ReadyOptions): Handler => {
  let kept: { readonly published: Promise<Published | undefined>; readonly until: number } | undefined
  const published = (): Promise<Published | undefined> => {
    if (kept === undefined || clock.elapsed() >= kept.until)
      kept = { published: publishedWhole(store), until: clock.elapsed() + KEPT_MS }
    return kept.published
  }
  return async () => {
    const at = await inTime(published()).catch(storeFailure)
    if (at instanceof Failure)
      return notReady({
        reason: at.kind === 'damaged' ? 'Part of the store is lost.' : 'The store cannot be read.',
        version,
      })
    if (at === undefined) return notReady({ reason: 'Nothing is loaded yet.', version })
    return loadedReply(at, node, version)
  }
}

const publishedWhole = async (store: ReadyOptions['store']): Promise<Published | undefined> => {
  await store.whole?.()
  return store.published()
}

/** Whether a store that has blocks is near enough to the chain's end. */
const loadedReply = (at: Published, node: Node | undefined, version: string): Reply => {
  const heard = node?.heard()
  // A node that far behind the store knows as little of the chain's end as one that is silent.
  const info = heard !== undefined && heard.libBlock < at.height - BEHIND ? undefined : heard
  const lib = Math.max(at.lib, info?.libBlock ?? 0)
  const behind = Math.max(0, lib - at.height)
  const state = {
    height: at.height,
    time: toIso(at.time),
    lib,
    behind: info === undefined ? null : behind,
    node: nodeState(node, heard),
    version,
  }
  const isUnknown = node !== undefined && info === undefined
  const reason = behind > BEHIND ? FAR_BEHIND : isUnknown ? unknownBecause(heard) : undefined
  if (reason !== undefined) return notReady({ reason, ...state })
  return textReply(
    200,
    { type: JSON_TYPE, text: writeJson({ ready: true, ...state }) },
    { headers: NOT_CACHED },
  )
}

const FAR_BEHIND = `Loading is more than ${BEHIND} blocks behind the chain.`

const unknownBecause = (heard: unknown): string =>
  heard === undefined
    ? 'No node responds, so it is unknown how far loading is behind the chain.'
    : 'The node is behind the loaded blocks, so it is unknown how far loading is behind the chain.'

const nodeState = (node: Node | undefined, info: unknown): 'none' | 'reachable' | 'unreachable' =>
  node === undefined ? 'none' : info === undefined ? 'unreachable' : 'reachable'

const notReady = (state: Readonly<Record<string, unknown>>) =>
  textReply(
    503,
    { type: JSON_TYPE, text: writeJson({ ready: false, ...state }) },
    {
      headers: { ...NOT_CACHED, 'Retry-After': '5' },
    },
  )

const inTime = <T>(value: Promise<T>): Promise<T> =>
  within(value, {
    ms: STORE_MS,
    late: () => new Failure('unavailable', `The store did not return its height within ${STORE_MS} ms.`),
  })

const storeFailure = (error: unknown): Failure => {
  if (error instanceof Failure && (error.kind === 'unavailable' || error.kind === 'damaged')) return error
  throw error
}
