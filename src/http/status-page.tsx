/** @jsxImportSource @kitajs/html */

import { escapeHtml } from '@kitajs/html'
import { LANGUAGE_TAG, selectLanguage } from '#actions/request/options.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { formatGrouped } from '#explorer/format/amount.ts'
import { formatDuration } from '#explorer/format/time.ts'
import type { Lang, Site } from '#explorer/page.ts'
import { At } from '#explorer/part/amount.tsx'
import { ServicePage, type Shell } from '#explorer/part/document.tsx'
import { type Fact, Facts } from '#explorer/part/section.tsx'
import { type Clock, createPace } from '#time/clock.ts'
import type { AppOptions } from './app-options.ts'
import { formatQueryString, PAGE_POLICY, redirect } from './documents.ts'
import type { Handler } from './exchange.ts'
import { findTroubles, type Health, isWhole, listFreshFields, type Trouble } from './health.ts'
import { JSON_TYPE, textReply } from './reply.ts'

/** The status of a service, for people and programs. */
type ServiceStatus = {
  readonly version: string
  /** Start of the service, ISO-8601 UTC. */
  readonly since: string
  readonly health: Health
  /** Published blocks per second since the first observation; null: observed for too short a time. */
  readonly blocksPerSecond: number | null
  readonly troubles: readonly Trouble[]
}

/** The status as a page of HTML. Its links are relative. */
async function statusPage(
  status: ServiceStatus,
  { site, lang }: { readonly site: Site; readonly lang: Lang },
): Promise<string> {
  const { troubles } = status
  const say: Say = (en, zh) => ({ en, zh })[lang]
  const shell: Shell = {
    site,
    root: '',
    lang,
    path: '/status',
    query: new URLSearchParams(),
    say: text => text[lang],
  }
  const isFine = troubles.length === 0
  const verdict = isFine ? say('Everything is in order.', '一切正常。') : say('Something is wrong.', '存在问题。')
  return (
    <ServicePage
      shell={shell}
      other={`status?lang=${lang === 'en' ? 'zh' : 'en'}`}
      title={`${say('Status', '运行状态')} · iostlens`}
      description={verdict}
      isTimed
    >
      <main id="main">
        <h1 safe>{say('Status', '运行状态')}</h1>
        <p>
          <strong class={`verdict badge ${isFine ? 'good' : 'bad'}`} safe>
            {verdict}
          </strong>
        </p>
        {troubles.map(({ what, help }) => (
          <section class="card">
            <h2 safe>{what[lang]}</h2>
            <p safe>{`${say('What to do', '处理办法')}${say(': ', '：')}${help[lang]}`}</p>
          </section>
        ))}
        <section class="card">
          <Facts visit={shell} facts={listFacts(status, { say, lang })} />
        </section>
      </main>
    </ServicePage>
  )
}

type Say = (en: string, zh: string) => string

function listFacts(
  { health, blocksPerSecond, since, version }: ServiceStatus,
  { say, lang }: { readonly say: Say; readonly lang: Lang },
): readonly Fact[] {
  const { published, fresh } = health
  const unknown = say('unknown', '未知')
  const duration = (seconds: number): string => formatDuration(seconds, lang)
  const byNode = (value: string | undefined): string =>
    fresh?.node === 'none'
      ? say('unknown: this service follows no node', '未知：本服务未连接全节点')
      : (value ?? unknown)
  const { lagSeconds = null, behind = null, behindSeconds = null } = fresh ?? {}
  const distance =
    behind === null || behindSeconds === null
      ? undefined
      : `${say(`${formatGrouped(String(behind))} blocks, `, `${formatGrouped(String(behind))} 个区块，`)}${duration(behindSeconds)}`
  const { node_heard: reported } = listFreshFields(fresh)
  return [
    ['Store readable and whole', '存储可读且完整', isWhole(health) ? say('yes', '是') : say('NO', '否')],
    [
      'Last loaded block',
      '最后加载的区块',
      published === undefined ? unknown : formatGrouped(String(published.height)),
    ],
    ['Time of that block', '区块时间', published === undefined ? unknown : <At iso={toIso(published.time)} />],
    ['Age of that block', '距今', lagSeconds === null ? unknown : duration(lagSeconds)],
    ['Behind the node', '落后全节点', byNode(distance)],
    [
      'Last response from the node',
      '最近一次收到全节点响应',
      reported === null ? byNode(fresh === undefined ? undefined : say('never', '从未')) : <At iso={reported} />,
    ],
    ['Blocks per second', '每秒区块数', String(blocksPerSecond ?? unknown)],
    ['Serving since', '开始服务时间', <At iso={since} />],
    ['Version', '版本', escapeHtml(version)],
  ]
}

type StatusOptions = Pick<AppOptions, 'version' | 'maxLagMs' | 'clock'> & {
  readonly readHealth: () => Promise<Health>
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
