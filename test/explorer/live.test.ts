import { expect, test } from 'bun:test'
import type { Store } from '#store/port.ts'
import { until } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'
import { handClock } from '../support/clocks/hand-clock.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { feedEvents } from '../support/processes/feed-client.ts'
import { serviceOn } from '../support/processes/service.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { fillFromRecording, loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { HTML, listenAlone } from './served.ts'

/** The text received of a body so far. The body may be cut off. */
function collected(response: Response): () => string {
  const decoder = new TextDecoder()
  let text = ''
  const reading = async (): Promise<void> => {
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true })
  }
  reading().catch(() => undefined)
  return () => text
}

const started = async (over: Parameters<typeof serviceOn>[1] = {}) =>
  serviceOn(await loadedStore(), { explorer: true, ...over })

/** The test clock starts in 1970, before every block. */
const WRONG =
  'event: standing\ndata: {"trouble":"The machine\'s clock is before the last loaded block, so the age of that block is unknown."}\n\n'

test('live: each published height reaches all pages with one read of the store, and every 15 seconds an event is sent', async () => {
  const { store, destroy } = await temporarySqlite()
  const clock = handClock()
  let looks = 0
  const published: Store['published'] = () => {
    looks += 1
    return store.published()
  }
  const service = serviceOn({ ...store, published }, { clock, explorer: true })
  const gone = new AbortController()
  const open = () => service.ask('/live', { signal: gone.signal })
  const texts: (() => string)[] = []
  const blocks = await recordedBlocks()
  const runs = [blocks.slice(0, 6), ...blocks.slice(6, 10).map(block => [block])]
  await commitRuns(store, runs, {
    lib: 9,
    onCommitted: async height => {
      if (height === 5) for (let at = 0; at < 20; at++) texts.push(collected(await open()))
      // Of several heights within a quarter of a second, pages only receive the last one.
      await clock.pass(height === 7 || height === 8 ? 100 : 300)
    },
  })
  const event = (height: number) => `id: ${height}\ndata: ${height}\n\n${WRONG}`
  const begin = `retry: 2000\n\n${event(5)}${event(6)}${event(7)}${event(9)}`
  expect(texts.map(text => text())).toEqual(Array(20).fill(begin))
  expect(looks).toBe(11)
  // A page that opens later receives the height at once.
  const late = collected(await open())
  await clock.settle()
  expect(late()).toBe(`retry: 2000\n\n${event(9)}`)
  await clock.pass(15_000)
  expect(texts[0]?.()).toBe(`${begin}${WRONG}`)
  expect(service.lines.filter(({ fields }) => fields['route'] === 'live')).toEqual([])
  gone.abort()
  looks = 0
  await clock.pass(1_000)
  expect([looks, service.lines.filter(({ fields }) => fields['kind'] === 'gone').length]).toEqual([0, 21])
  await destroy()
})

test('live: a page that stops reading is cut off, and receives the last height if it reads again in time', async () => {
  const clock = handClock()
  const { ask, lines } = await started({ clock, stallMs: 20_000, maxFeedsPerKey: 1 })
  const reader = (await ask('/live')).body?.getReader()
  const texts: string[] = []
  const take = async () => texts.push(new TextDecoder().decode((await reader?.read())?.value as Uint8Array))
  await take()
  await clock.pass(16_000)
  await take()
  expect(texts).toEqual(['retry: 2000\n\n', `id: 4851\ndata: 4851\n\n${WRONG}`])
  expect((await ask('/live')).status).toBe(429)
  await clock.pass(20_000)
  expect(lines.at(-1)?.fields).toMatchObject({ route: 'live', kind: 'stalled', status: 200 })
  expect((await ask('/live')).status).toBe(200)
})

test.each([
  ['current', {}, null, null],
  ['old', { later: 301_000 }, 'The last loaded block is old.', '最后加载的区块距今已久。'],
  ['without a node', { heard: undefined }, 'No node responds, so', '没有全节点响应，'],
  ['far behind', { libBlock: 900_000 }, 'Loading is more than 1000 blocks', '数据加载落后链上 1000 个区块以上'],
])('live: a service that is %s tells its pages', async (_, over, en, zh) => {
  const { later = 0, ...heard } = over as { readonly later?: number; readonly libBlock?: number }
  const last = (await recordedBlocks()).at(-1)?.block.time ?? 0n
  const info = 'heard' in heard ? undefined : { libBlock: 4_851, libTime: last, headTime: last, ...heard }
  const node = { lastInfo: () => info, reportAgeMs: () => 0, whyUnfit: () => undefined }
  const clock = { ...systemClock, now: () => Number(last / 1_000_000n) + later }
  const { ask } = await started({ clock, node: node as never })
  for (const [lang, told] of Object.entries({ en, zh })) {
    const response = await ask(`/live?lang=${lang}`)
    for await (const { event, data } of feedEvents(response.body)) {
      if (event !== 'standing') continue
      expect(JSON.parse(data)).toMatchObject({ trouble: told && expect.stringContaining(told) })
      break
    }
  }
})

test('live: the number of pages is limited per network address and in total; feeds with a key have their own limit', async () => {
  const service = await started({ maxFeeds: 3, maxFeedsPerKey: 2, trustedProxies: [] })
  const { key } = service
  await using own = listenAlone(service)
  const { url } = own
  const first = [await fetch(`${url}/live`), await fetch(`${url}/live`)]
  const refused = await fetch(`${url}/live`)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  expect(await refused.json()).toMatchObject({ message: 'Too many live pages are open from this network address.' })
  // A request without a socket has no network address.
  const [third, full] = [await service.ask('/live'), await service.ask('/live?lang=zh')]
  expect([third.status, full.status]).toEqual([200, 503])
  expect(await full.json()).toMatchObject({ message: '服务繁忙：打开的实时页面过多。' })
  const feed = await service.ask(`/api/base/get-block-list?format=sse&apikey=${key}`)
  expect(feed.status).toBe(200)
  await feed.body?.cancel()
  await first[0]?.body?.cancel()
  await until(async () => (await fetch(`${url}/live`)).status === 200)
})

test('live: a store that cannot be read ends the streams', async () => {
  const clock = handClock()
  const broken = { ...(await loadedStore()), published: () => Promise.reject(new Error('gone')) }
  const { ask } = serviceOn(broken, { clock, explorer: true })
  const text = collected(await ask('/live'))
  await clock.pass(6_000)
  expect(text()).toStartWith('retry: 2000\n\nevent: end\ndata: {"code":')
})

test('live: headers, methods and addresses are those of a feed, and there is no stream without the explorer', async () => {
  const { ask } = await started({ basePath: '/iost', maxFeedsPerKey: 1 })
  for (const method of ['HEAD', 'GET']) {
    const { status, headers, body } = await ask('/iost/live', { method })
    const told = ['content-type', 'cache-control', 'x-accel-buffering'].map(each => headers.get(each))
    expect([status, ...told]).toEqual([200, 'text/event-stream; charset=utf-8', 'no-store', 'no'])
    await body?.cancel()
  }
  const off = serviceOn(await loadedStore())
  const others = [ask('/iost/live', { method: 'OPTIONS' }), ask('/iost/live', { method: 'POST' }), ask('/iost/zh/live')]
  const statuses = (await Promise.all([...others, off.ask('/live')])).map(({ status }) => status)
  expect(statuses).toEqual([204, 405, 404, 404])
})

test('live: an open page that refreshes uses no visit, and never receives a page older than its known height', async () => {
  const used = { visit: 0, refresh: 0 }
  const count = (name: keyof typeof used) => () => {
    used[name] += 1
    return 0
  }
  const { store, destroy } = await temporarySqlite()
  await fillFromRecording(store, { to: 60 })
  let now = store
  const changing = { ...store, read: (...asked) => now.read(...asked), published: () => now.published() } as Store
  const addresses = { visit: count('visit'), refresh: count('refresh') } as never
  const clock = { now: () => Date.UTC(2026, 10, 21) }
  const service = serviceOn(changing, { explorer: true, ...clock, trustedProxies: [], addresses })
  await using own = listenAlone(service)
  const readHeight = async (known?: string) => {
    const headers = { accept: HTML, ...(known === undefined ? {} : { 'X-Live-Height': known }) }
    const html = await (await fetch(`${own.url}/blocks`, { headers })).text()
    return /data-height="(\d+)"/.exec(html)?.[1]
  }
  expect(await readHeight()).toBe('60')
  now = await loadedStore()
  // The clock is still in the same second, so clients without a known height get the cached page. Heights that nobody
  // can have been told do not make the page anew.
  for (const known of [undefined, '60', '4852', '99999', '999999999999999'])
    expect([known, await readHeight(known)]).toEqual([known, '60'])
  expect(used).toEqual({ visit: 2, refresh: 4 })
  for (const known of ['61', undefined, 'x']) expect([known, await readHeight(known)]).toEqual([known, '4851'])
  expect(used).toEqual({ visit: 3, refresh: 6 })
  await destroy()
})
