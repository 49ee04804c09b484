import { Failure } from '#failure/failure.ts'
import { isRoutable, parseTarget, type Service } from './exchange.ts'
import { ALLOWED, COMMON_HEADERS } from './reply.ts'
import { respond } from './request.ts'

/**
 * Handles methods before routing: unknown methods are refused, and HEAD is GET without the body. undefined: a
 * GET for the routes. `get` routes a GET.
 */
export function beforeRouting(
  request: Request,
  { service, get }: { readonly service: Service; readonly get: (request: Request) => Response | Promise<Response> },
): Promise<Response> | Response | undefined {
  const { method } = request
  if (method === 'OPTIONS') return preflight()
  if (method !== 'GET' && method !== 'HEAD') return respond('method', refuse, service)(request)
  if (method === 'GET' && isRoutable(request.url)) return undefined
  const { path, query } = parseTarget(request.url)
  const { signal } = request
  const headers = new Headers(request.headers)
  // No body is sent, so the end of the connection means nothing.
  if (method === 'HEAD') headers.delete('connection')
  const response = get(new Request(`http://host.invalid${path}${query === '' ? '' : `?${query}`}`, { headers, signal }))
  return method === 'GET' ? response : withoutBody(response)
}

async function refuse({ request }: { readonly request: Request }): Promise<never> {
  throw new Failure('method_not_allowed', `Method ${request.method} is not supported; use GET.`, {
    zh: `不支持 ${request.method} 方法；请使用 GET。`,
  })
}

const preflight = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...COMMON_HEADERS,
      Allow: ALLOWED,
      'Access-Control-Allow-Methods': ALLOWED,
      'Access-Control-Allow-Headers': 'X-API-Key, If-None-Match, Last-Event-ID, Accept-Language, Content-Type',
      // A day: the allowed methods do not change while the service runs.
      'Access-Control-Max-Age': '86400',
    },
  })

/**
 * The response to HEAD has the headers of the GET, including the length. A streamed body has no length, and
 * Bun would send 0 (RFC 9110 8.6 allows only the length of the GET).
 */
async function withoutBody(response: Response | Promise<Response>): Promise<Response> {
  const { status, headers, body } = await response
  if (body !== null && !headers.has('content-length')) headers.set('Transfer-Encoding', 'chunked')
  await body?.cancel()
  return new Response(null, { status, headers })
}
