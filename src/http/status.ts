import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import type { ServedStore } from '#store/require-servable.ts'
import type { Clock } from '#time/clock.ts'
import type { HttpCounts } from './counts.ts'
import type { Handler } from './exchange.ts'
import { type Freshness, freshnessOf } from './freshness.ts'
import { publishedLately } from './published-lately.ts'
import { JSON_TYPE, type Reply, textReply } from './reply.ts'
import { behindTroubles, EMPTY, freshFields, storeTrouble } from './status-page/service-status.ts'
import type { Stopping } from './stopping.ts'

const NOT_CACHED = { 'Cache-Control': 'no-store' }

/** `/health`: the process is up. It checks neither store nor node. */
export const healthHandler =
  (version: string): Handler =>
  async () =>
    textReply(200, { type: JSON_TYPE, text: writeJson({ status: 'ok', version }) }, { headers: NOT_CACHED })

export type ReadyOptions = {
  readonly store: ServedStore
  readonly node: Node | undefined
  readonly version: string
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
  /** Maximum age of the last loaded block; undefined: any age. */
  readonly maxLagMs: number | undefined
  /** Whether faults of the node and of loading count, too. */
  readonly readyNeedsNode: boolean
  readonly counts: Pick<HttpCounts, 'damageMet'>
  readonly stopping?: Pick<Stopping, 'signal'>
}

/**
 * `/ready`: 200 when the service can answer from the store, else 503 with the reason: the store cannot be read, has
 * lost data, is of another version or absent, no block is published, the last loaded block is older than `maxLagMs`, or
 * the service stops. Replicas share their node and their loader, so a fault of these makes none of them unready unless
 * `readyNeedsNode` is set. Unknown fields are null.
 */
export const readyHandler = (options: ReadyOptions): Handler => {
  const { store, version, clock } = options
  const published = publishedLately(store, clock)
  return async () => {
    if (options.stopping?.signal.aborted === true) return notReady({ reason: 'The service is stopping.', version })
    const at = await published()
    if (at instanceof Failure) return notReady({ reason: storeTrouble(at).what.en, version })
    if (at === undefined) return notReady({ reason: EMPTY.what.en, version })
    return loadedReply(at, options)
  }
}

/** The answer for a store with blocks. */
const loadedReply = (at: Published, options: ReadyOptions): Reply => {
  const { node, version, clock, maxLagMs, readyNeedsNode, counts } = options
  const fresh = freshnessOf(at, node, clock)
  const whole = counts.damageMet.read() === 0
  const state = { height: at.height, time: toIso(at.time), whole, ...freshFields(fresh), version }
  const [fault] = readyNeedsNode ? behindTroubles(fresh) : []
  const reason = fault?.what.en ?? tooOld(fresh, maxLagMs)
  if (reason !== undefined) return notReady({ reason, ...state })
  return textReply(200, { type: JSON_TYPE, text: writeJson({ ready: true, ...state }) }, { headers: NOT_CACHED })
}

const tooOld = ({ lagSeconds }: Freshness, maxLagMs: number | undefined): string | undefined => {
  if (maxLagMs === undefined) return undefined
  if (lagSeconds === null)
    return "This machine's clock is before the last loaded block, so the age of that block is unknown."
  return lagSeconds * 1_000 > maxLagMs
    ? `The last loaded block is older than ${maxLagMs / 1_000} seconds (--max-lag).`
    : undefined
}

const notReady = (state: Readonly<Record<string, unknown>>) =>
  textReply(
    503,
    { type: JSON_TYPE, text: writeJson({ ready: false, ...state }) },
    { headers: { ...NOT_CACHED, 'Retry-After': '5' } },
  )
