import { LANGUAGE_TAG, languageFor } from '#actions/request/options.ts'
import { writeJson } from '#chain/json.ts'
import type { Site } from '#explorer/page.ts'
import { Failure } from '#failure/failure.ts'
import type { ServedStore } from '#store/require-servable.ts'
import type { Clock } from '#time/clock.ts'
import { createPace } from '#time/pace.ts'
import type { HttpCounts } from '../counts.ts'
import { PAGE_POLICY, redirect, textOf } from '../documents.ts'
import type { Handler } from '../exchange.ts'
import { type PublishedLately, publishedLately } from '../published-lately.ts'
import { JSON_TYPE, textReply } from '../reply.ts'
import { statusPage } from './page.tsx'
import { freshFields, type ServiceStatus, type StatusSources, serviceStatusOf } from './service-status.ts'

type StatusOptions = Pick<StatusSources, 'node' | 'version' | 'maxLagMs'> & {
  readonly store: ServedStore
  readonly counts: Pick<HttpCounts, 'damageMet'>
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
  readonly site: Site
}

/**
 * `/status`: a page for people, in their language (`lang`, `Accept-Language`); JSON if `Accept` requests it.
 * The status is always 200; `/ready` is for programs that decide by the status.
 */
export const statusHandler = (options: StatusOptions): Handler => {
  const { store, clock, version, node, maxLagMs, site, counts } = options
  const published = publishedLately(store, clock)
  const since = clock.now()
  const pace = paceOf(clock)
  return async ({ path, query, request }) => {
    // The page's links are relative to its address without a trailing slash.
    if (path.endsWith('/')) return redirect(`../status${textOf(query)}`)
    const at = await published()
    const blocksPerSecond = pace(at)
    const isDamageMet = counts.damageMet.read() > 0
    const status = serviceStatusOf(at, { node, version, clock, maxLagMs, isDamageMet, since, blocksPerSecond })
    const headers = { 'Cache-Control': 'no-store', Vary: 'Accept, Accept-Language' }
    const lang = languageFor(query, request.headers.get('accept-language') ?? undefined)
    if (wantsJson(request)) return textReply(200, { type: JSON_TYPE, text: writeJson(jsonOf(status)) }, { headers })
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
const wantsJson = ({ headers }: Request): boolean => {
  const accept = headers.get('accept') ?? ''
  return /application\/json/i.test(accept) && !/text\/html/i.test(accept)
}

/** Minimum milliseconds for which the pace is meaningful. */
const SHORT_MS = 5_000

/** Blocks per second since the first block that this process saw; null: unknown. */
const paceOf = ({ elapsed }: Pick<Clock, 'elapsed'>) => {
  const pace = createPace()
  return (found: Awaited<ReturnType<PublishedLately>>): number | null => {
    if (found === undefined || found instanceof Failure) return null
    pace.note(elapsed(), found.height)
    return pace.spanMs() < SHORT_MS ? null : Math.round(pace.perSecond() * 10) / 10
  }
}

const jsonOf = ({ fresh, blocksPerSecond, troubles, ...rest }: ServiceStatus) => ({
  ...rest,
  ...freshFields(fresh),
  blocks_per_second: blocksPerSecond,
  troubles: troubles.map(({ what, help }) => ({
    what: what.en,
    what_zh: what.zh,
    help: help.en,
    help_zh: help.zh,
  })),
})
