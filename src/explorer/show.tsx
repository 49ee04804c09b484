/** @jsxImportSource @kitajs/html */
import type { AnswerDeps, Turn } from '#actions/answer.ts'
import { type Ask, askAtOneHeight } from '#actions/ask.ts'
import type { Text } from '#actions/text.ts'
import { lowerAddress } from '#chain/names.ts'
import { toIso } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import { downloads } from './download/downloads.ts'
import { notFoundIfImpossible } from './impossible-name.ts'
import type { Near } from './near.ts'
import type { Lang, Redirect, Site, Visit } from './page.ts'
import { failurePage } from './pages/failure.tsx'
import { pages } from './pages.ts'
import type { Call } from './part/calls.tsx'
import type { Frame } from './part/frame.ts'
import { Layout } from './part/layout.tsx'
import { lastInstead, pathOfPage, searchOf } from './part/pager.tsx'
import { routeAt } from './route.ts'

/** The request of a visitor: a path without language and prefix, and its parameters. */
export type PageRequest = {
  readonly site: Site
  readonly root: string
  readonly home?: string
  readonly lang: Lang
  readonly origin: string
  readonly isOriginKnown: boolean
  readonly path: string
  readonly query: URLSearchParams
  /** Milliseconds since 1970. */
  readonly now: number
}

/** A page to send, and the height of its data; `type` if it is not HTML. */
export type Document = { readonly text: string; readonly height?: number; readonly type?: string } | Redirect

const sayIn =
  (lang: Lang) =>
  (text: Text): string =>
    text[lang]

/** A page for its visitor. Throws the failures of the store, and of the page. */
export const showPage = async (
  deps: AnswerDeps,
  request: PageRequest,
  running: { readonly signal: AbortSignal; readonly turn: Turn },
): Promise<Document> => {
  const route = routeAt(pages, request.path)
  if (route === undefined) throw new Failure('not_found', 'This page does not exist.', { zh: '此页面不存在。' })
  const lowered = request.path.split('/').map(lowerAddress).join('/')
  if (lowered !== request.path) return { to: `${lowered}${searchOf(request.query)}` }
  const { found: page, id, part } = route
  return askAtOneHeight(
    deps,
    async ({ ask, at, storage }) => {
      const calls: Call[] = []
      let last: number | undefined
      const noting: Ask = async (action, given = {}) => {
        const call = { action, given }
        calls.push(call)
        try {
          const answer = await ask(action, given)
          last ??= lastInstead(request, given, answer)
          return answer
        } catch (error) {
          // A page can do without the answer. Its links are only those of successful calls.
          calls.splice(calls.indexOf(call), 1)
          throw notFoundIfImpossible(error, call, { id, part, query: request.query })
        }
      }
      const visit: Visit = { ...request, say: sayIn(request.lang), id, part, ask: noting, peek: ask, at, storage }
      const shown = await page.show(visit)
      if ('to' in shown) return shown
      if (shown.type !== undefined) return { text: await shown.body, type: shown.type }
      const frame: Frame = { ...visit, height: at.height, time: toIso(at.time), calls }
      const text = await (<Layout frame={frame} shown={shown} />)
      // Lists are requested while the page is rendered.
      return last === undefined ? { text, height: at.height } : { to: pathOfPage(request, last) }
    },
    running,
  )
}

/** The page of a failure whose message is in the visitor's language. `near`: suggestions. */
export const showFailure = async (
  request: Omit<PageRequest, 'now'>,
  failure: Failure,
  near?: Near,
): Promise<string> => {
  const frame: Frame = { ...request, say: sayIn(request.lang), calls: [] }
  // Files are below pages with an open segment.
  const { fields = [] } = (routeAt(downloads, request.path) ?? routeAt(pages, request.path))?.found ?? {}
  return <Layout frame={frame} shown={failurePage(frame, { failure, fields, near })} />
}
