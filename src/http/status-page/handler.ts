import { LANGUAGE_TAG, selectLanguage } from '#actions/request/options.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import type { Site } from '#explorer/page.ts'
import type { Clock } from '#time/clock.ts'
import { createPace } from '#time/pace.ts'
import { formatQueryString, PAGE_POLICY, redirect } from '../documents.ts'
import type { Handler } from '../exchange.ts'
import { type Health, isWhole, listFreshFields } from '../health.ts'
import { JSON_TYPE, textReply } from '../reply.ts'
import { findTroubles } from '../troubles.ts'
import { type ServiceStatus, statusPage } from './page.tsx'

type StatusOptions = {
  readonly readHealth: () => Promise<Health>
  readonly version: string
  readonly maxLagMs: number | undefined
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
  readonly site: Site
}

/**
 * `/status`: a page for people, in their language (`lang`, `Accept-Language`); JSON if `Accept` requests it.
 * The status is always 200; `/ready` is for programs that decide by the status.
 */
export function statusHandler(options: StatusOptions): Handler {
  const { readHealth, clock, version, maxLagMs, site } = options
  const since = new Date(clock.now()).toISOString()
  const measurePace = createPaceMeter(clock)
  return async ({ path, query, request }) => {
    // The page's links are relative to its address without a trailing slash.
    if (path.endsWith('/')) return redirect(`../status${formatQueryString(query)}`)
    const health = await readHealth()
    const blocksPerSecond = measurePace(health)
    const status = { version, since, blocksPerSecond, health, troubles: findTroubles(health, maxLagMs) }
    const headers = { 'Cache-Control': 'no-store', Vary: 'Accept, Accept-Language' }
    const lang = selectLanguage(query, request.headers.get('accept-language') ?? undefined)
    if (wantsJson(request))
      return textReply(200, { type: JSON_TYPE, text: writeJson(toStatusJson(status)) }, { headers })
    return textReply(
      200,
      { type: 'text/html; charset=utf-8', text: await statusPage(status, { site, lang }) },
      {
        headers: {
          ...headers,
          'Content-Security-Policy': PAGE_POLICY,
          'Content-Language': LANGUAGE_TAG[lang],
        },
      },
    )
  }
}

/** Whether JSON is accepted and HTML is not. A browser accepts HTML among others. */
function wantsJson({ headers }: Request): boolean {
  const accept = headers.get('accept') ?? ''
  return /application\/json/i.test(accept) && !/text\/html/i.test(accept)
}

/** Minimum milliseconds for which the pace is meaningful. */
const SHORT_MS = 5_000

/** Blocks per second since the first block that this process saw; null: unknown. */
function createPaceMeter({ elapsed }: Pick<Clock, 'elapsed'>) {
  const pace = createPace()
  return ({ published }: Health): number | null => {
    if (published === undefined) return null
    pace.note(elapsed(), published.height)
    return pace.spanMs() < SHORT_MS ? null : Math.round(pace.perSecond() * 10) / 10
  }
}

const toStatusJson = ({ version, since, blocksPerSecond, health, troubles }: ServiceStatus) => ({
  version,
  since,
  whole: isWhole(health),
  height: health.published?.height ?? null,
  time: health.published === undefined ? null : toIso(health.published.time),
  ...listFreshFields(health.fresh),
  blocks_per_second: blocksPerSecond,
  troubles: troubles.map(({ what, help }) => ({
    what: what.en,
    what_zh: what.zh,
    help: help.en,
    help_zh: help.zh,
  })),
})
