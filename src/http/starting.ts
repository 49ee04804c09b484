import { LANGUAGE_TAG } from '#actions/request/options.ts'
import { type Failure, Restarting } from '#failure/failure.ts'
import { ownHttpCounts } from './counts.ts'
import type { Exchange, Handler, Service } from './exchange.ts'
import { failureFields, failureReply } from './failure-reply.ts'
import { beforeRouting } from './methods.ts'
import { type Reply, textReply } from './reply.ts'
import { respond } from './request.ts'
import { healthHandler, startingHandler } from './status.ts'

type StartingOptions = Pick<Service, 'log' | 'defaults' | 'basePath' | 'deadlineMs' | 'clock'> & {
  readonly version: string
}

/** Seconds after which to retry. */
const RETRY_SECONDS = 1

const STARTING = new Restarting('unavailable', 'The service is starting; try again.', {
  zh: '服务正在启动；请重试。',
  details: { retryAfter: RETRY_SECONDS },
})

/**
 * The answers of an address until the serving threads listen on it: a refusal in the caller's language and
 * format, a stream that ends at once for a request for events, and a page that reloads itself for a browser.
 */
export const startingAnswers = ({
  version,
  ...options
}: StartingOptions): ((request: Request) => Response | Promise<Response>) => {
  const service: Service = {
    ...options,
    counts: ownHttpCounts(),
    isLogged: () => false,
    clientOf: () => undefined,
    writeFailure: startingPage,
  }
  const handlers = new Map([
    ['/health', healthHandler(version)],
    ['/ready', startingHandler(version)],
  ])
  const starting: Handler = async (exchange, ...rest) => {
    // The next request must open a new connection, to a serving thread.
    exchange.headers['Connection'] = 'close'
    const handler = handlers.get(exchange.path)
    if (handler === undefined) throw STARTING
    return handler(exchange, ...rest)
  }
  const get = respond('starting', starting, service)
  return request => beforeRouting(request, { service, get }) ?? get(request)
}

/** Paths for programs. They get no page, even in a browser. */
const OF_PROGRAMS = /^\/(?:api|rpc|usage|metrics|openapi\.json)(?:\/|$)/

const OF_CHINESE_PAGES = /^\/zh(?:\/|$)/

const startingPage = async (exchange: Exchange, failure: Failure): Promise<Reply | undefined> => {
  const { request, path, id, headers } = exchange
  if (request.headers.get('accept')?.includes('text/html') !== true || OF_PROGRAMS.test(path)) return undefined
  const replyOptions = OF_CHINESE_PAGES.test(path)
    ? { ...exchange.replyOptions, lang: 'zh' as const }
    : exchange.replyOptions
  const { message } = failureFields(failure, replyOptions)
  const refused = failureReply(failure, replyOptions, id)
  return textReply(
    refused.status,
    { type: 'text/html; charset=utf-8', text: pageOf(message, LANGUAGE_TAG[replyOptions.lang]) },
    {
      headers: {
        ...headers,
        ...refused.headers,
        'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      },
    },
  )
}

const pageOf = (message: string, lang: string): string => `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${RETRY_SECONDS}">
<title>iostlens</title>
</head>
<body><p>${message}</p></body>
</html>
`
