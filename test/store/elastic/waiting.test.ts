import { expect, test } from 'bun:test'
import { openElastic } from '#store/elastic/open-elastic.ts'
import { metaShape, stateShapes } from '#store/elastic/schema/mappings.ts'
import { identity } from '#test/store/suite/fixture.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'

/** After this many pauses between attempts, work can only be waiting for a shard. */
const TRIES = 3

test.skipIf(elasticsearchUrl() === undefined)(
  'create waits for the shards of the checkpoint and of indices that must be empty, which another process has just created',
  async () => {
    let onWait = (): void => {}
    // Elapsed time is always 0, so retries never time out.
    const sleep = async (ms: number) => {
      // The pause between two attempts.
      if (ms === 50) onWait()
      await Bun.sleep(ms)
    }
    const target = openTestElastic({ clock: { now: () => 0, elapsed: () => 0, sleep } })
    const isWaiting = (work: Promise<unknown>): Promise<boolean> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      let left = TRIES
      onWait = () => {
        left -= 1
        if (left === 0) resolve()
      }
      return Promise.race([work.then(() => false), promise.then(() => true)])
    }
    for (const [name, { settings, mappings }] of [
      ['meta', metaShape],
      ['state', stateShapes.state],
    ] as const)
      await target.ask('PUT', `${name}-0?wait_for_active_shards=0`, {
        settings: { index: { ...settings.index, 'routing.allocation.enable': 'none' } },
        mappings,
        aliases: { [`${target.prefix}-${name}`]: {} },
      })
    const start = (name: string) =>
      target.ask('PUT', `${name}-0/_settings`, { 'index.routing.allocation.enable': null })
    const created = target.store.create()
    expect(await isWaiting(created)).toBe(true)
    await start('meta')
    expect(await isWaiting(created)).toBe(true)
    await start('state')
    await created
    expect(await target.store.check()).toEqual([])
    expect((await target.store.takeOver(identity)).checkpoint).toBeUndefined()
    await target.destroy()
  },
)

test('keys are read while every other request hangs, whatever their number', async () => {
  const hanging = Promise.withResolvers<void>()
  let hung = 0
  const headers = { 'x-elastic-product': 'Elasticsearch' }
  const fetch = (request: Request): Response | Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === '/x-keys/_search') return Response.json({ hits: { hits: [] } }, { headers })
    // The list of keys also reads which index of keys is the known one.
    if (pathname === '/x-meta/_doc/published') return Response.json({ found: false }, { headers, status: 404 })
    hung += 1
    if (hung === 32) hanging.resolve()
    return new Promise<Response>(() => {})
  }
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch })
  // None of what hangs gives its place back by itself.
  const store = openElastic({ url: `http://127.0.0.1:${server.port}`, prefix: 'x', requestTimeoutMs: 3_600_000 })
  const others = Promise.allSettled(Array.from({ length: 64 }, () => store.identity()))
  await hanging.promise
  expect(await store.keys.list(AbortSignal.timeout(600_000))).toEqual([])
  await server.stop(true)
  await others
  await store.close()
})
