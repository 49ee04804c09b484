import { expect, test } from 'bun:test'
import { documentHandlers } from '#http/documents.ts'
import type { Exchange } from '#http/exchange.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { systemClock } from '#time/clock.ts'

/** Documents cost little, however many ask for them. CPU is measured, not time. */

const store = await loadedStore()
const PATHS = ['/docs/en', '/openapi.json', '/client.js', '/llms.txt']
const MORE = ['/docs/zh', '/openapi.json?format=csv', '/client.ts']
const GZIP = { headers: { 'accept-encoding': 'gzip' } }

/** Microseconds of CPU that a work takes. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** The examples are found before, so that only the document is measured. */
async function started() {
  const { ask } = serviceOn(store)
  await ask('/openapi.json?format=bare')
  return ask
}

test.each(SOAK ? [...PATHS, ...MORE] : PATHS)(
  'documents: %s is made once for all first requests at once, and sent as it is kept afterwards',
  async path => {
    // Warm code: the first service pays for it.
    await (await started())(path, GZIP)
    const ask = await started()
    const alone = await cpuOf(() => ask(path, GZIP))
    const other = await started()
    const texts = new Set<string>()
    const crowd = await cpuOf(async () => {
      for (const answer of await Promise.all(Array.from({ length: 60 }, () => other(path, GZIP))))
        texts.add(`${answer.status} ${answer.headers.get('content-encoding')} ${(await answer.bytes()).toHex()}`)
    })
    expect([texts.size, [...texts][0]]).toEqual([1, expect.stringMatching(/^200 gzip /)])
    const lasting = 60 * 5_000
    expect([path, crowd < 6 * alone + lasting]).toEqual([path, true])
    const [plain, packed] = [await other(path), await other(path, GZIP)]
    const tag = plain.headers.get('etag') ?? ''
    expect(packed.headers.get('etag')).toBe(`${tag.slice(0, -1)}-gzip"`)
    expect(new TextDecoder().decode(Bun.gunzipSync(await packed.arrayBuffer()))).toBe(await plain.text())
    expect((await other(path, { headers: { 'if-none-match': tag } })).status).toBe(304)
  },
)

test('documents: each counts as a visit of its network, and too many are refused', async () => {
  const none = { get: () => undefined }
  const visits: string[] = []
  let wait = 0
  const visit = (network: string): number => {
    visits.push(network)
    return wait
  }
  const assets = { style: '', script: '', theme: '', preview: '' }
  const deps = { store, node: undefined, prices: none, profiles: none, clock: systemClock }
  const documents = documentHandlers(deps, {
    addresses: { visit, refresh: () => 0 },
    site: { version: '', isExplored: false, labels: new Map(), assets },
    files: { style: '', script: '' },
    defaults: { format: 'envelope', compat: 'none' },
    basePath: '',
  })
  const { signal } = new AbortController()
  const ask = (path: string) => {
    const exchange = { path, query: [], client: { address: 'a', network: 'net' } } as unknown as Exchange
    return documents.get(path)?.handler(exchange, signal, () => () => undefined)
  }
  for (const path of documents.keys()) expect([path, (await ask(path))?.status]).toEqual([path, 200])
  expect(visits).toEqual([...documents.keys()].map(() => 'net'))
  wait = 1_000
  for (const path of documents.keys())
    await expect(ask(path)).rejects.toThrow('Too many pages were opened from this network address within a minute.')
})
