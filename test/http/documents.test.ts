import { expect, test } from 'bun:test'
import { documentHandlers } from '#http/documents.ts'
import type { Exchange } from '#http/exchange.ts'
import { systemClock } from '#time/clock.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'

/** Documents cost little, however many ask for them. CPU is measured, not time. */

const store = await loadedStore()
const PATHS = [
  '/docs/en',
  '/docs/zh',
  '/openapi.json',
  '/openapi.json?format=csv',
  '/client.ts',
  '/client.js',
  '/llms.txt',
]
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

test.each(PATHS)(
  'documents: %s is made once for all first requests at once, and sent as it is kept afterwards',
  async path => {
    // Warm code: the first service pays for it.
    await (await started())(path, GZIP)
    const ask = await started()
    const alone = await cpuOf(() => ask(path, GZIP))
    const other = await started()
    const texts = new Set<string>()
    const crowd = await cpuOf(async () => {
      const answers = await Promise.all(Array.from({ length: 60 }, () => other(path, GZIP)))
      for (const answer of answers) {
        expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, 'gzip'])
        texts.add((await answer.bytes()).toHex())
      }
    })
    expect(texts.size).toBe(1)
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
  const visits: string[] = []
  let wait = 0
  const addresses = {
    visit: (network: string) => {
      visits.push(network)
      return wait
    },
    refresh: () => 0,
  }
  const deps = { store, node: undefined, prices: NONE, profiles: NONE, clock: systemClock }
  const documents = documentHandlers(deps, {
    addresses,
    site: {
      version: '',
      isExplored: false,
      labels: new Map(),
      assets: { style: '', script: '', theme: '', preview: '' },
    },
    files: { style: '', script: '' },
    defaults: { format: 'envelope', compat: 'none' },
    basePath: '',
  })
  const { signal } = new AbortController()
  const ask = (path: string) =>
    documents
      .get(path)
      ?.handler(
        { path, query: [], client: { address: 'a', network: 'net' } } as unknown as Exchange,
        signal,
        () => () => undefined,
      )
  for (const path of documents.keys()) expect([path, (await ask(path))?.status]).toEqual([path, 200])
  expect(visits).toEqual([...documents.keys()].map(() => 'net'))
  wait = 1_000
  for (const path of documents.keys())
    await expect(ask(path)).rejects.toThrow('Too many pages were opened from this network address within a minute.')
})

const NONE = { get: () => undefined }
