import type { Service } from '../processes/service.ts'

export type Served = ReturnType<typeof servedBehind>

/** Serves under a base path, like a proxy that strips it. The URL has a slash at its end. */
export function servedBehind(path: string, { app }: Service) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    // A page keeps an idle event stream open. On a busy machine its keep-alive comments come late.
    idleTimeout: 0,
    fetch: request => {
      const url = new URL(request.url)
      if (!url.pathname.startsWith(path)) return new Response('elsewhere', { status: 404 })
      const { headers, method, signal } = request
      const inner = `${url.origin}/${url.pathname.slice(path.length)}${url.search}`
      return app.handle(new Request(inner, { headers, method, signal }))
    },
  })
  return { url: `http://127.0.0.1:${server.port}${path}`, [Symbol.asyncDispose]: () => server.stop(true) }
}
