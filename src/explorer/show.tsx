/** @jsxImportSource @kitajs/html */
import type { AcquirePermit, AnswerDeps } from '#actions/answer.ts'
import { type Ask, askAtOneHeight, type CallParameters } from '#actions/ask.ts'
import type { Text, Typed } from '#actions/define.ts'
import { listParameters } from '#actions/request/query.ts'
import { quoteGiven } from '#actions/request/refusals.ts'
import { lowerAddress } from '#chain/names.ts'
import { toIso } from '#chain/time.ts'
import { Failure, type FailureKind } from '#failure/failure.ts'
import { downloads } from './download/downloads.ts'
import type { Near } from './find/search.ts'
import { type FormField, nameFieldsInRefusal } from './format/field.ts'
import { findRoute, toHref } from './links.ts'
import type { Html, Lang, PageContent, Redirect, Visit } from './page.ts'
import { pages } from './pages.ts'
import { type Frame, Layout, type PageCall } from './part/layout.tsx'
import { findPageInstead, formatPageNumberPath, formatSearch } from './part/list.tsx'
import { LastBlock, MatchRows, SEARCHED_FORMS } from './part/match.tsx'
import { Card } from './part/section.tsx'
import { ChainText } from './part/text.tsx'

const TITLES: Partial<Readonly<Record<FailureKind, Text>>> = {
  not_found: { en: 'Not found', zh: '未找到' },
  loading: { en: 'Not loaded yet', zh: '尚未加载' },
  bad_request: { en: 'Invalid link', zh: '链接无效' },
  rate_limited: { en: 'Too many pages at once', zh: '访问过于频繁' },
}
const OTHERWISE: Text = { en: 'This page cannot be shown now', zh: '暂时无法显示此页面' }

type FailurePageProps = {
  /** Its message is in the visitor's language. */
  readonly failure: Failure
  /** Of the form on the page that could not be shown. */
  readonly fields: readonly FormField[]
  readonly near?: Near | undefined
}

function failurePage(frame: Frame, { failure, fields, near }: FailurePageProps): PageContent {
  const { say } = frame
  const title = say(TITLES[failure.kind] ?? OTHERWISE)
  return {
    title,
    isMinor: true,
    body: (
      <>
        <section class="card failure">
          <h1 safe>{title}</h1>
          {isOutOfOrder(failure) ? (
            <OutOfOrder frame={frame} />
          ) : (
            <p safe>{nameFieldsInRefusal(frame, failure, fields)}</p>
          )}
          {near !== undefined && failure.kind !== 'loading' && <LastBlock visit={frame} height={near.height} />}
          <p safe>{say(SEARCHED_FORMS)}</p>
        </section>
        {near !== undefined && near.matches.length !== 0 && (
          <Card visit={frame} id="meant" title={{ en: 'Did you mean', zh: '您是不是要找' }}>
            <p>
              <span safe>{say({ en: 'Looked for: ', zh: '查找内容：' })}</span>
              <ChainText visit={frame} text={near.text} />
            </p>
            <MatchRows visit={frame} matches={near.matches} />
          </Card>
        )}
      </>
    ),
  }
}

/** Whether the address names a page of searched rows, which have no numbers, or a row that none of them follows. */
const isOutOfOrder = ({ details }: Pick<Failure, 'details'>): boolean =>
  details['parameter'] === 'after' || (details['parameter'] === 'page' && details['searched'] !== undefined)

/** Searched rows can only be read in order, from the newest one. */
function OutOfOrder({ frame }: { readonly frame: Frame }): Html {
  const query = new URLSearchParams(frame.query)
  query.delete('after')
  return (
    <p>
      <span safe>
        {frame.say({
          en: 'This link leads to no page of the list. Rows that filters find have no page numbers: each page leads to the next.',
          zh: '此链接不对应列表中的任何一页。按条件查到的记录没有页码，只能逐页往后翻。',
        })}
      </span>{' '}
      <a href={toHref(frame, formatPageNumberPath({ path: frame.path, query }, 1))} safe>
        {frame.say({ en: 'First page →', zh: '从第一页开始 →' })}
      </a>
    </p>
  )
}

/** Parameters either of which names the thing of a page: a block has a number and a hash. */
const EITHER = ['number', 'hash']

type Refused = { readonly action: Typed; readonly given: CallParameters }

/**
 * The failure of a call, from a visitor's view. When the name in the page's address breaks the rule of the
 * API's parameter, no thing can have that name, so it is 'not_found'. A bad query parameter of the address
 * stays 'bad_request'.
 */
export function toVisitorFailure(
  error: unknown,
  { action, given }: Refused,
  { id, part, query }: Pick<Visit, 'id' | 'part' | 'query'>,
): unknown {
  if (!(error instanceof Failure) || error.kind !== 'bad_request') return error
  const name = String(error.details['parameter'])
  const names = EITHER.includes(name) ? EITHER : [name]
  const rules = listParameters(action.params)
    .filter(each => names.includes(each.name))
    .map(({ spec }) => spec.rule)
  const value = [id, part].find(each => each === given[name])
  if (rules.length === 0 || value === undefined || query.get(name) === value) return error
  return new Failure(
    'not_found',
    `${quoteGiven(value)} cannot exist: it would have to be ${rules.map(({ en }) => en).join(' or ')}.`,
    {
      zh: `${quoteGiven(value)} 不可能存在：须为${rules.map(({ zh }) => zh).join('，或')}。`,
      cause: error,
    },
  )
}

/** The request of a visitor: a path without language and prefix, and its parameters. */
export type PageRequest = Pick<
  Visit,
  'site' | 'root' | 'home' | 'lang' | 'origin' | 'isOriginKnown' | 'path' | 'query' | 'now'
>

/** A page to send, and the height of its data; `type` if it is not HTML. */
export type Document = { readonly text: string; readonly height?: number; readonly type?: string } | Redirect

const createSay =
  (lang: Lang) =>
  (text: Text): string =>
    text[lang]

/** A page for its visitor. Throws the failures of the store, and of the page. */
export async function showPage(
  deps: AnswerDeps,
  request: PageRequest,
  running: { readonly signal: AbortSignal; readonly acquire: AcquirePermit },
): Promise<Document> {
  const route = findRoute(pages, request.path)
  if (route === undefined) throw new Failure('not_found', 'This page does not exist.', { zh: '此页面不存在。' })
  const lowered = request.path.split('/').map(lowerAddress).join('/')
  if (lowered !== request.path) return { to: `${lowered}${formatSearch(request.query)}` }
  const { found: page, id, part } = route
  return askAtOneHeight(
    deps,
    async ({ ask, at, storage }) => {
      const calls: PageCall[] = []
      let last: number | undefined
      const noting: Ask = async (action, given = {}) => {
        const call = { action, given }
        calls.push(call)
        try {
          const answer = await ask(action, given)
          last ??= findPageInstead(request, given, answer)
          return answer
        } catch (error) {
          // A page can do without the answer. Its links are only those of successful calls.
          calls.splice(calls.indexOf(call), 1)
          throw toVisitorFailure(error, call, { id, part, query: request.query })
        }
      }
      const visit: Visit = { ...request, say: createSay(request.lang), id, part, ask: noting, peek: ask, at, storage }
      const shown = await page.show(visit)
      if ('to' in shown) return shown
      if (shown.type !== undefined) return { text: await shown.body, type: shown.type }
      const frame: Frame = { ...visit, height: at.height, time: toIso(at.time), calls }
      const text = await (<Layout frame={frame} shown={shown} />)
      // Lists are requested while the page is rendered.
      return last === undefined ? { text, height: at.height } : { to: formatPageNumberPath(request, last) }
    },
    running,
  )
}

/** The page of a failure whose message is in the visitor's language. `near`: suggestions. */
export async function showFailure(request: Omit<PageRequest, 'now'>, failure: Failure, near?: Near): Promise<string> {
  const frame: Frame = { ...request, say: createSay(request.lang), calls: [] }
  // Files are below pages with an open segment.
  const { fields = [] } = (findRoute(downloads, request.path) ?? findRoute(pages, request.path))?.found ?? {}
  return <Layout frame={frame} shown={failurePage(frame, { failure, fields, near })} />
}
