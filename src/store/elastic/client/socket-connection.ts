import { HttpConnection } from '@elastic/elasticsearch'
import type { Sending } from './http-lines.ts'
import type { HttpRequests } from './http-requests.ts'

type Options = ConstructorParameters<typeof HttpConnection>[0]
type Params = Parameters<HttpConnection['request']>[0]
type RequestOptions = Parameters<HttpConnection['request']>[1]

/** Headers that are written with the request itself, or say what is the same on every connection of ours. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'host',
])

/**
 * Makes the official client send what it has built over our own sockets, so that there is one HTTP stack: the client's
 * connection on undici fails on Bun with every request, and the one on node:http takes three times the processor time.
 * Limits are those of the job that the client is given as the request's context.
 */
export const socketConnection = (requests: HttpRequests) =>
  class SocketConnection extends HttpConnection {
    constructor(options: Options) {
      // No agent of node:http is made.
      super({ ...options, agent: false })
    }

    override async request(params: Params, { context }: RequestOptions): Promise<never> {
      const { method, path, querystring, body, headers } = params
      const request = {
        method,
        path: querystring ? `${path}?${querystring}` : path,
        ...(typeof body === 'string' && body !== '' ? { body } : {}),
        headers: textHeaders(headers),
        isRepeatable: false,
      }
      const answer = await requests.send(request, context as Sending)
      // The client never asks for streams; its types have two results for one implementation.
      return {
        statusCode: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: answer.text,
      } as never
    }

    override async close(): Promise<void> {}
  }

const textHeaders = (headers: Params['headers']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers ?? {}).flatMap(([name, value]) =>
      value === undefined || value === null || OWN_HEADERS.has(name.toLowerCase())
        ? []
        : [[name, String(value)]],
    ),
  )
