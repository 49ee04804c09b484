import { Failure } from '#failure/failure.ts'
import type { Answer } from './answer.ts'
import type { Call } from './routes.ts'

export type Address = {
  /** Default: 127.0.0.1. */
  readonly host?: string
  /** 0: any free port. */
  readonly port?: number
}

/** Parses `HOST:PORT` of a command line. Throws Failure 'usage'. */
export function readAddress(text: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^([^:\s]+):([0-9]{1,5})$/.exec(text) ?? []
  if (host === undefined || port === undefined) throw new Failure('usage', `--listen ${text} is not HOST:PORT.`)
  return { host, port: Number(port) }
}

const responseOf = (method: string, { status, contentType, text }: Answer): Response =>
  new Response(method === 'HEAD' ? null : text, {
    status,
    headers: { 'content-type': contentType, 'access-control-allow-origin': '*' },
  })

/** Answer to a CORS preflight request: headers only. */
const preflight = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
      'access-control-allow-headers': 'Content-Type, Accept',
    },
  })

/** Serves calls over HTTP like a node. The URL has no slash at its end. */
export function serveCalls(
  { host = '127.0.0.1', port = 0 }: Address,
  answer: (call: Call) => Answer | Promise<Answer>,
) {
  const server = Bun.serve({
    hostname: host,
    port,
    // A client that reads a block slowly is not disconnected.
    idleTimeout: 255,
    fetch: async request => {
      if (request.method === 'OPTIONS' && request.headers.has('access-control-request-method')) return preflight()
      const body = request.method === 'POST' ? await request.text() : ''
      const call = { method: request.method, path: new URL(request.url).pathname, body }
      return responseOf(request.method, await answer(call))
    },
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    port: server.port ?? port,
    stop: () => server.stop(true),
  } as const
}
