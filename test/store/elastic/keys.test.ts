import { expect, test } from 'bun:test'
import { openElastic } from '#store/elastic/open-elastic.ts'

test('keys are read while every other request hangs, whatever their number', async () => {
  const hanging = Promise.withResolvers<void>()
  let hung = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: request => {
      const headers = { 'x-elastic-product': 'Elasticsearch' }
      const { pathname } = new URL(request.url)
      if (pathname === '/x-keys/_search') return Response.json({ hits: { hits: [] } }, { headers })
      // The list of keys also reads which index of keys is the known one.
      if (pathname === '/x-meta/_doc/published') return Response.json({ found: false }, { headers, status: 404 })
      hung += 1
      if (hung === 32) hanging.resolve()
      return new Promise<Response>(() => {})
    },
  })
  // None of what hangs gives its place back by itself.
  const store = openElastic({
    ...{ url: `http://127.0.0.1:${server.port}`, prefix: 'x' },
    requestTimeoutMs: 3_600_000,
  })
  const others = Promise.allSettled(Array.from({ length: 64 }, () => store.identity()))
  await hanging.promise
  expect(await store.keys.list(AbortSignal.timeout(600_000))).toEqual([])
  await server.stop(true)
  await others
  await store.close()
})
