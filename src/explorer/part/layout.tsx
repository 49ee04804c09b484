/** @jsxImportSource @kitajs/html */
import type { CallParameters } from '#actions/ask.ts'
import type { ApiAction, Text } from '#actions/define.ts'
import { LANGUAGE_TAG } from '#actions/request/options.ts'
import { formatGrouped } from '../format/amount.ts'
import { revealInvisible, shortenName, toOneLine } from '../format/text.ts'
import { formatTime } from '../format/time.ts'
import { isListItem, LISTS, toHref } from '../links.ts'
import type { Html, PageContent, Visit } from '../page.ts'
import { Document, type Shell } from './document.tsx'

/** The data of an explorer page's header and footer. The height is absent while the store cannot be read. */
export type Frame = Shell &
  Pick<Visit, 'origin' | 'isOriginKnown'> & {
    readonly height?: number
    /** ISO-8601 UTC. */
    readonly time?: string
    readonly calls: readonly PageCall[]
  }

/**
 * The sign that an open page is live and its data current. Only the script shows it. Its width is that of the
 * longest text, so that the layout does not shift.
 */
const LiveSign = ({ frame: { say } }: { readonly frame: Pick<Frame, 'say'> }): Html => (
  <span class="live">
    <span class="on" safe>
      {say({ en: 'Live', zh: '实时' })}
    </span>
    <span
      class="late"
      title={say({
        en: 'The live connection was lost; the page now refreshes at intervals.',
        zh: '与服务的实时连接已断开；页面改为定时更新。',
      })}
      safe
    >
      {say({ en: 'Delayed', zh: '延迟' })}
    </span>
    <span
      class="held"
      title={say({
        en: 'New data waits while you point at the rows or use them; the page is as of the block at its foot.',
        zh: '指向或操作列表时暂停更新；页面数据截至页脚所示区块。',
      })}
      safe
    >
      {say({ en: 'Paused', zh: '已暂停' })}
    </span>
    <span class="stale" safe>
      {say({ en: 'Out of date', zh: '数据滞后' })}
    </span>
  </span>
)

/** The address of a page for search engines: absolute if the service's own address is known. */
const formatCanonicalHref = (
  { origin, isOriginKnown, root, lang }: Pick<Visit, 'origin' | 'isOriginKnown' | 'root' | 'lang'>,
  path: string,
): string => (isOriginKnown ? new URL(toHref({ root: './', lang }, path), origin).href : toHref({ root, lang }, path))

type OpenGraphProps = {
  readonly frame: Frame
  /** The canonical one of the page. */
  readonly path: string
  readonly title: string
  readonly description: string
}

/** The size of the preview picture in pixels, as recommended for Open Graph. */
const SIZE = { width: 1_200, height: 630 } as const

/**
 * The Open Graph tags of a page, for messengers and other sites. The facts are in title and description; the picture is
 * the same for all pages.
 */
function OpenGraph({ frame, path, title, description }: OpenGraphProps): Html {
  const { say, lang, isOriginKnown } = frame
  const site = say({ en: 'IOST explorer', zh: 'IOST 浏览器' })
  return (
    <>
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={site} />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:locale" content={lang === 'zh' ? 'zh_CN' : 'en_US'} />
      {/* The address must be absolute. Without a height, since the page is the same at every height. */}
      {isOriginKnown && (
        <>
          <meta property="og:url" content={formatCanonicalHref(frame, path)} />
          <meta property="og:image" content={`${frame.origin}assets/${frame.site.assets.preview}`} />
          <meta property="og:image:width" content={String(SIZE.width)} />
          <meta property="og:image:height" content={String(SIZE.height)} />
          <meta property="og:image:alt" content={site} />
        </>
      )}
      <meta name="twitter:card" content={isOriginKnown ? 'summary_large_image' : 'summary'} />
    </>
  )
}

/**
 * The breadcrumbs of a page about one thing: links from the home page down to the whole that contains it.
 * Other pages have none, since the header links to them.
 */
function Crumbs({ frame }: { readonly frame: Frame }): Html {
  const { say } = frame
  const around = listParents(frame)
  if (around.length === 0) return ''
  return (
    <nav class="crumbs" aria-label={say({ en: 'Breadcrumbs', zh: '当前位置' })}>
      <ol>
        {[['/', say({ en: 'Home', zh: '首页' })] as const, ...around].map(([path, name]) => (
          <li>
            <a href={toHref(frame, path)} safe>
              {name}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  )
}

/** The whole that contains a thing, by the first path segment of both. */
const WHOLES = new Map<string, Text>([
  ['nft', { en: 'NFT collection', zh: '所属合集' }],
  ['account', { en: 'Account', zh: '账户' }],
  ['contract', { en: 'Contract', zh: '合约' }],
])

/** The list of a thing, and the collection of an NFT or the owner of a balance: their paths and names. */
function listParents({ path, say }: Frame): readonly (readonly [string, string])[] {
  const list = LISTS.find(([to]) => isListItem(to, path))
  // The segment is not decoded: on the page of a refusal it may not be valid text.
  const [, whole, kind = ''] = /^(\/([^/]+)\/[^/]+)\/[^/]+$/.exec(path) ?? []
  const name = WHOLES.get(kind)
  return [
    ...(list === undefined ? [] : [[list[0], say(list[1])] as const]),
    ...(whole === undefined || name === undefined ? [] : [[whole, say(name)] as const]),
  ]
}

/** An API call with data of a page. */
export type PageCall = {
  readonly action: Pick<ApiAction, 'module' | 'action' | 'list' | 'title' | 'source'>
  readonly given: CallParameters
}

type CallLinksProps = {
  readonly frame: Pick<Visit, 'site' | 'root' | 'say'>
  readonly calls: readonly PageCall[]
}

/**
 * Links to the API calls of a page's data, and to whole lists as a table. They are shown only with a test
 * key, since without a key each call would be refused.
 */
export const CallLinks = ({ frame, calls }: CallLinksProps): Html =>
  frame.site.testKey === undefined || calls.length === 0 ? (
    ''
  ) : (
    <details class="calls">
      <summary safe>{frame.say({ en: 'Data of this page', zh: '本页数据' })}</summary>
      {groupCalls(calls).map((group, _at, all) => (
        <span class="call">
          <span safe>{formatGroupName(group, all, frame)}</span>{' '}
          {group.parts.map(part => (
            <>
              <a href={formatApiUrl(frame, group.action, { ...group.given, ...part })} safe>
                {group.parts.length === 1 ? 'JSON' : `JSON ${formatRowRange(part)}`}
              </a>{' '}
            </>
          ))}
          {group.action.source !== undefined && (
            <a href={formatApiUrl(frame, group.action, { ...group.given, format: 'csv' })}>CSV</a>
          )}
        </span>
      ))}
    </details>
  )

/** The URL of the API call with the data of a page. */
function formatApiUrl(
  { root, site }: Pick<Visit, 'root' | 'site'>,
  { module, action }: { readonly module: string; readonly action: string },
  given: Readonly<Record<string, string>>,
): string {
  const key = site.testKey === undefined ? {} : { apikey: site.testKey }
  return `${root}api/?${new URLSearchParams({ module, action, ...given, ...key })}`
}

/** Calls of an action that differ at most in the part of the list. */
type Group = PageCall & {
  /** The parts, without duplicates, as paging parameters. */
  readonly parts: readonly CallParameters[]
}

/** Parameters that select a part of a list. A file has the whole list. */
const PART: ReadonlySet<string> = new Set(['page', 'size', 'after'])

function groupCalls(calls: readonly PageCall[]): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const { action, given } of calls) {
    const isOfPart = ([name]: readonly [string, string]): boolean => PART.has(name)
    const all = Object.entries(given)
    const part = Object.fromEntries(all.filter(isOfPart))
    const whole = Object.fromEntries(all.filter(each => !isOfPart(each)))
    const key = JSON.stringify([action.module, action.action, whole])
    const parts = groups.get(key)?.parts ?? []
    const isNew = parts.every(each => JSON.stringify(each) !== JSON.stringify(part))
    groups.set(key, { action, given: whole, parts: isNew ? [...parts, part] : parts })
  }
  return [...groups.values()]
}

/** The positions of a part's rows in the whole list, such as `26–50`. */
function formatRowRange({ page = '', size = '' }: CallParameters): string {
  const last = Number(page) * Number(size)
  return `${formatGrouped(String(last - Number(size) + 1))}–${formatGrouped(String(last))}`
}

/** The title of an action, with the subject of the call if the page calls the action for several. */
function formatGroupName({ action, given }: Group, all: readonly Group[], { say }: Pick<Visit, 'say'>): string {
  const isOne = all.filter(each => each.action === action).length === 1
  const [of = ''] = Object.values(given)
  return isOne ? say(action.title) : `${say(action.title)} ${shortenName(revealInvisible(of))}`
}

/** Maximum length of a title and of a description: more than search engines show. */
const MAX_TITLE = 120
const MAX_DESCRIPTION = 300

export function Layout({ frame, shown }: { readonly frame: Frame; readonly shown: PageContent }): Html {
  const { title: full, description: blurb = full, body, path = frame.path, asOf, isMinor = false } = shown
  const [title, description] = [toOneLine(full, MAX_TITLE), toOneLine(blurb, MAX_DESCRIPTION)]
  return (
    <Document
      shell={frame}
      other={formatOtherHref(frame)}
      sign={<LiveSign frame={frame} />}
      isTimed
      title={`${title} · IOST`}
      description={description}
      links={
        <>
          <OpenGraph frame={frame} path={path} title={title} description={description} />
          {isMinor && <meta name="robots" content="noindex" />}
          <link rel="canonical" href={formatCanonicalHref(frame, path)} />
          {(['en', 'zh'] as const).map(lang => (
            <link rel="alternate" hreflang={LANGUAGE_TAG[lang]} href={formatCanonicalHref({ ...frame, lang }, path)} />
          ))}
        </>
      }
      height={frame.height}
    >
      <main id="main">
        <Crumbs frame={frame} />
        {body}
      </main>
      <Foot frame={frame} asOf={asOf} />
    </Document>
  )
}

function formatOtherHref({ root, lang, path, query }: Frame): string {
  const other = lang === 'en' ? 'zh' : 'en'
  const kept = new URLSearchParams(query)
  kept.delete('lang')
  // The home page redirects to the browser's language unless `lang` is given.
  if (path === '/' && other === 'en') kept.set('lang', 'en')
  const text = kept.toString()
  return `${toHref({ root, lang: other }, path)}${text === '' ? '' : `?${text}`}`
}

function Foot({ frame, asOf }: { readonly frame: Frame; readonly asOf: Text | undefined }): Html {
  const { site, say, height, time, calls } = frame
  return (
    <footer class="foot">
      {height !== undefined && time !== undefined && (
        <p safe>
          {say(
            asOf ?? {
              en: `As of irreversible block ${height}, ${formatTime(time)} UTC.`,
              zh: `数据截至不可逆区块 ${height}，${formatTime(time)} UTC。`,
            },
          )}
        </p>
      )}
      <p class="warn trouble" role="status"></p>
      <CallLinks frame={frame} calls={calls} />
      <p>
        iostlens <span safe>{site.version}</span>
      </p>
    </footer>
  )
}
