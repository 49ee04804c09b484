import { expect, test } from 'bun:test'
import { actions } from '#actions/registry.ts'
import { createHttpCounts } from '#http/counts.ts'
import { formatRoute } from '#http/openapi/action-operation.ts'
import type { Store, View } from '#store/port.ts'
import { fill, forkedChain } from '#test/support/nodes/forked.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { replayedNode } from '#test/support/nodes/replayed-node.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { repairedEnd } from '#test/support/stores/audited.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { damageableElastic, damageableSqlite } from '#test/support/stores/damage.ts'
import { elasticsearchUrl } from '#test/support/stores/elasticsearch.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { until } from '#test/support/wait.ts'

/** Cached answers that equal requests share must equal the store's answers at any moment. */

const PAGE = '/api/account/get-account-tx?account=busyhub&size=5'
const FORMS = ['', '&lang=zh', '&format=bare', '&compat=iostabc', '&numbers=string', '&page=2', '&sort=asc']

const loaded = await loadedStore()

/** A service with cached answers, with a count of the store's reads and a way to delay them. */
function setUp(store: Store, more: Parameters<typeof serviceOn>[1] = {}) {
  const seen = { reads: 0, sources: [] as string[], onRead: (): Promise<void> => Promise.resolve() }
  const counted = (view: View): View => ({
    ...view,
    // The store never changes. On SQLite the edition differs between connections.
    ...(store === loaded ? { edition: loaded } : {}),
    records: async (...asked) => {
      seen.reads += 1
      await seen.onRead()
      return view.records(...asked)
    },
  })
  const own = createHttpCounts()
  const answers = { ...own.answers, add: (_by: number, source: string) => void seen.sources.push(source) }
  const read: Store['read'] = (work, options) => store.read(view => work(counted(view)), options)
  const { get } = serviceOn({ ...store, read }, { keptBytes: 4_000_000, counts: { ...own, answers }, ...more })
  const said = async (path: string) => {
    const answer = await get(path)
    return [answer.status, await answer.text(), answer.headers.get('link'), answer.headers.get('etag')]
  }
  /** `alone`: the answer of a service that keeps none. */
  return { seen, get, said, alone: serviceOn(store).get }
}

test('kept answers: an equal request of the same form shares the answer, and counts like any other', async () => {
  const { seen, get, said, alone } = setUp(loaded, { plan: { perSecond: 1_000_000, perDay: 1_000 } })
  for (const form of FORMS) {
    const before = seen.reads
    const [first, second] = [await said(PAGE + form), await said(PAGE + form)]
    expect(first.slice(0, 2)).toEqual([200, await (await alone(PAGE + form)).text()])
    expect([second, seen.reads - before]).toEqual([first, 1])
  }
  // The same request, written differently. Its links repeat its own parameters.
  const before = seen.reads
  const other = await get(`/api/?_=7&size=5&account=busyhub&module=account&action=get-account-tx&page=1`)
  expect([await other.text(), seen.reads - before]).toEqual([String((await said(PAGE))[1]), 0])
  expect(other.headers.get('link')).toContain('<?_=7&size=5&account=busyhub&')
  const left = Number((await get(PAGE)).headers.get('ratelimit-remaining'))
  expect(Number((await get(PAGE)).headers.get('ratelimit-remaining'))).toBe(left - 1)
  expect(seen.sources.filter(source => source !== 'kept')).toEqual(FORMS.map(() => 'store'))
})

test('kept answers: running requests are joined, and one that ends without an answer does not end the others', async () => {
  const { seen, get } = setUp(loaded)
  const gate = Promise.withResolvers<void>()
  seen.onRead = () => gate.promise
  const first = new AbortController()
  const leaver = get(PAGE, {}, { signal: first.signal })
  await until(() => seen.reads > 0)
  const others = Array.from({ length: 5 }, () => get(PAGE))
  const apart = get(`${PAGE}&numbers=string`)
  await until(() => seen.reads >= 2)
  first.abort(new Error('gone'))
  await leaver
  gate.resolve()
  expect((await Promise.all([...others, apart])).map(({ status }) => status)).toEqual(Array(6).fill(200))
  seen.reads = 0
  const held = Promise.withResolvers<void>()
  seen.onRead = () => held.promise
  const second = Array.from({ length: 5 }, () => get(`${PAGE}&page=9`))
  await until(() => seen.reads > 0)
  held.resolve()
  const bodies = await Promise.all(second.map(async answer => (await answer).text()))
  expect([new Set(bodies).size, seen.reads]).toEqual([1, 1])
  expect(seen.sources.slice(-5).toSorted()).toEqual(['joined', 'joined', 'joined', 'joined', 'store'])
})

test('kept answers: failures and answers that depend on a node far ahead are not cached', async () => {
  let lib = 0
  const node = { ...spokenNode({}), lastInfo: () => ({ ...spokenNode({}).lastInfo(), libBlock: lib }) } as never
  const { said } = setUp(loaded, { node })
  const beyond = `${PAGE}&end_block=999999`
  const unknown = '/api/account/get-account-tx?account=nosuchacc'
  expect([(await said(beyond))[0], (await said(unknown))[0]]).toEqual([200, 404])
  lib = 1_000_000
  expect([(await said(beyond))[0], (await said(unknown))[0]]).toEqual([503, 503])
  expect((await said(`${unknown}&compat=iostabc`))[0]).toBe(503)
  lib = 0
  expect([(await said(beyond))[0], (await said(`${unknown}&compat=iostabc`))[0]]).toEqual([200, 200])
})

test('kept answers: actions that say so read only the store, and whether the load is behind', async () => {
  const refused = (): never => {
    throw new Error('An action asks for what its kept answers do not know.')
  }
  const closed = new Proxy({}, { get: refused }) as never
  const node = new Proxy(
    { lastInfo: () => ({ libBlock: 0 }) },
    { get: (known, name) => (name === 'lastInfo' ? known.lastInfo : refused()) },
  ) as never
  for (const action of actions.filter(({ isOfStore }) => isOfStore === true)) {
    const { seen, said } = setUp(loaded, { node, prices: closed, profiles: closed })
    for (const compat of ['', '&compat=iostabc']) {
      const path = `${formatRoute(action)}?${new URLSearchParams(action.example)}${compat}`
      const [first, second] = [await said(path), await said(path)]
      expect([path, first[0], second]).toEqual([path, 200, first])
    }
    expect(seen.sources).toEqual(['store', 'kept', 'store', 'kept'])
  }
})

const HEIGHT = 60
const ORPHANS = 3
const replay = replayedNode(HEIGHT)
const places = [
  ['SQLite', damageableSqlite] as const,
  ...(elasticsearchUrl() === undefined ? [] : [['Elasticsearch', damageableElastic] as const]),
]

test.each(places)(
  'kept answers on %s: another process drops those of blocks that a repair takes back',
  async (_, open) => {
    const { store, reopen, destroy } = await open()
    await fill(store, await forkedChain(HEIGHT, ORPHANS), HEIGHT + 5)
    const reader = reopen()
    const { seen, said, alone } = setUp(reader)
    const path = '/api/base/get-block-list?size=5'
    for (let times = 0; times < 2; times++) await said(path)
    expect(seen.sources[0]).toBe('store')
    await repairedEnd(store, replay.node)
    let now = await alone(path)
    // The published height is read again after some milliseconds.
    while (now.headers.get('x-block-height') !== String(HEIGHT - ORPHANS)) now = await alone(path)
    expect((await said(path)).slice(0, 2)).toEqual([200, await now.text()])
    await reader.close()
    await destroy()
  },
)

test.each(places)('kept answers on %s: after each batch they are those of the store', async (name, open) => {
  const { store, destroy } = await open()
  const blocks = await recordedBlocks()
  const { seen, said, alone } = setUp(store)
  const path = '/api/base/get-block-list?size=3'
  const runs = [blocks.slice(0, 20), ...[20, 21, 22].map(at => blocks.slice(at, at + 1))]
  await commitRuns(store, runs, {
    lib: 22,
    onCommitted: async () => {
      const expected = [200, await (await alone(path)).text()]
      for (let times = 0; times < 3; times++) expect((await said(path)).slice(0, 2)).toEqual(expected)
    },
  })
  expect(seen.sources).toHaveLength(3 * runs.length)
  // On Elasticsearch the store is also read again after a second.
  const reads = seen.sources.filter(source => source === 'store').length
  expect(name === 'SQLite' ? reads === 4 : reads >= 4).toBe(true)
  await destroy()
})
