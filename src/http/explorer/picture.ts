import type { AnswerDeps } from '#actions/answer.ts'
import { askAtOneHeight } from '#actions/ask.ts'
import type { Site } from '#explorer/page.ts'
import { pictures } from '#explorer/picture/pictures.ts'
import { svgOf } from '#explorer/picture/svg.ts'
import { routeAt } from '#explorer/route.ts'
import { Failure } from '#failure/failure.ts'
import { within } from '#time/deadline.ts'
import type { Handler } from '../exchange.ts'
import { keptPictures } from '../picture/kept-pictures.ts'
import { counted, type ExplorerGate } from './gate.ts'
import { visitorTurn } from './handler.ts'
import { pageRequestOf } from './page-request.ts'

/** The pictures of pages: without a key, within the visits of a network, in turns with all other requests. */
export const pictureHandler = (deps: AnswerDeps, options: ExplorerGate & { readonly site: Site }): Handler => {
  const draw = keptPictures()
  return async (exchange, signal) => {
    const key = counted(options, exchange, 'visit')
    options.queues.store.check(key)
    const { path } = pageRequestOf(exchange, options.site)
    const route = routeAt(pictures, path)
    if (route === undefined) throw new Failure('not_found', 'This page does not exist.', { zh: '此页面不存在。' })
    const { found: picture, id } = route
    const running = { signal, turn: visitorTurn(options, key, signal) }
    // Drawn within the visitor's turn, so that the limit of requests also limits waiting pictures.
    const body = await askAtOneHeight(
      deps,
      async ({ ask }) => within(draw(svgOf(await picture.show({ ask, id }))), { signal }),
      running,
    )
    return { status: 200, type: 'image/png', body, headers: HEADERS, form: 'tagged' }
  }
}

/** Cached like pages: the content changes with each block. */
const HEADERS = { 'Cache-Control': 'private, max-age=1' }
