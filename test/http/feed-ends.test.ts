import { expect, test } from 'bun:test'
import { formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { Failure, type FailureKind, Restarting } from '#failure/failure.ts'
import { createRates } from '#gate/rate.ts'
import { codes } from '#http/codes.ts'
import { openFeeds } from '#http/feed/open-feeds.ts'
import { pausedFeed } from '#http/feed/reply.ts'
import { stoppingService } from '#http/stopping.ts'
import { createKey } from '#keys/key.ts'
import type { StoredKey } from '#store/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { documented } from '#test/support/documented.ts'
import { clientOf } from '#test/support/processes/client.ts'
import { collectEvents, type FeedEvent, feedEvents, feedMessages } from '#test/support/processes/feed-client.ts'
import { serviceOn, testKeyring } from '#test/support/processes/service.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { until } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'

/**
 * The begin and end of feeds of a chain that stands still: limits, keys and their plans, the stop of the service, and
 * clients that connect again, of which most take any status but 200 for the end.
 */

const LIST = '/api/account/get-account-tx?account=busyhub&format=sse'
const PLAN = { perSecond: 1_000, perDay: 100_000 }
const store = await loadedStore()

function openService(over: Parameters<typeof serviceOn>[1] = {}) {
  const service = serviceOn(store, over)
  const open = (query = '', headers: Readonly<Record<string, string>> = {}) => service.get(LIST + query, headers)
  return { ...service, open }
}
const { open, ask, get } = openService()

/** The first `count` events of a feed, or of its messages. */
async function firstOf({ body }: Response, count: number, parse = feedEvents): Promise<readonly FeedEvent[]> {
  const read: FeedEvent[] = []
  for await (const event of parse(body)) if (read.push(event) === count) break
  return read
}

/** The name of an event, and what its data says. */
const readEvent = ({ event, data }: FeedEvent) => ({ event, ...JSON.parse(data) })

async function readRefusal(response: Response) {
  const { message } = (await response.json()) as { message: string }
  return [response.status, message]
}

test('feeds: the first message names the last row, so that a reconnect before the first row misses none', async () => {
  const reader = (await open()).body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  expect(new TextDecoder().decode(value as Uint8Array)).toMatch(
    /^retry: [123]\d{3}\n: block 4851\nid: 18261@4851\.\w{24}\nevent: begin\ndata: \{"block_height":"4851"\}\n\n$/,
  )
  await reader?.cancel()
})

test('feeds: the first message repeats the chain of a client, whose packed rows are then dropped, as with the id of an older service', async () => {
  const [begin] = await firstOf(await open(), 1, feedMessages)
  const trail = begin?.id?.slice('18261'.length) ?? ''
  for (const [last, id, block] of [
    [`18261${trail}`, `18261${trail}`, '4852'],
    [`18261-4850-4901-2-abc-1234wxyz${trail}`, `18261${trail}`, '4852'],
    // Packed rows of any block may be those of another chain.
    ['18261', '18261', '0'],
    ['18261-4850-4901-2-abc-1234wxyz', '18261', '0'],
  ] as const) {
    const messages = await firstOf(await open('&head=1', { 'last-event-id': last }), 2, feedMessages)
    const dropped = { id: `18261${trail}`, event: 'dropped', data: `{"from_block":"${block}"}` }
    expect([last, messages]).toEqual([last, [{ id, event: 'message', data: '' }, dropped]])
  }
})

test('feeds: a client with more rows than the list gets a reset to the last valid row', async () => {
  const [end] = await firstOf(await open('', { 'last-event-id': '18262' }), 2)
  expect([end?.id, end && readEvent(end)]).toMatchObject([
    '18261',
    { event: 'reset', seq: 18261, block_height: '4851' },
  ])
})

test('feeds: calls without a feed, and parameters that a feed does not use, are refused', async () => {
  const feeds = actions.filter(({ source }) => source?.isFeed === true).map(formatActionName)
  for (const [path, said, last] of [
    [`${LIST}&page=1`, "Parameter 'page' does not go with format=sse"],
    [`${LIST}&end_seq=5`, "Parameter 'end_seq' does not go"],
    [`${LIST}&sort=desc`, "Parameter 'sort' is 'desc'"],
    [LIST, "Last-Event-ID is 'x'", { 'last-event-id': 'x' }],
    ['/api/account/get-balance-history?account=busyhub&step=day&format=sse', "Parameter 'step' does not go"],
    ['/api/producer/get-reward-history?producer=admin&step=day&format=sse', "Parameter 'step' does not go"],
    ['/api/base/get-wealth-list?format=sse', `: ${feeds.join(', ')}. `],
  ] as const)
    expect(await readRefusal(await get(path, last))).toEqual([400, expect.stringContaining(said)])
  const [told = ''] = documented('docs/api.md', '## Feeds').split(' return their rows')
  expect((told.match(/get-[a-z-]+/g) ?? []).toSorted()).toEqual(feeds.toSorted())
})

test('feeds: the number of feeds is limited per key and in all, and leaving clients release their places', async () => {
  const other = createKey('other', PLAN, { now: Date.now() })
  const { open } = openService({ maxFeeds: 3, maxFeedsPerKey: 2, keys: [other.stored] })
  const own = { 'x-api-key': other.key }
  const [first] = [await open(), await open()]
  expect((await open()).status).toBe(429)
  expect([(await open('', own)).status, (await open('', own)).status]).toEqual([200, 503])
  await first?.body?.cancel()
  expect((await open()).status).toBe(200)
})

test('feeds: revoking a key ends its feeds, and no others', async () => {
  const [one, two] = [createKey('one', PLAN, { now: Date.now() }), createKey('two', PLAN, { now: Date.now() })]
  let keys: readonly StoredKey[] = [one.stored, two.stored]
  const { open } = openService({ keyring: testKeyring(() => keys, { clock: systemClock }) })
  const ended = firstOf(await open('&lang=zh', { 'x-api-key': one.key }), 2)
  let isOver = false
  const kept = await open('', { 'x-api-key': two.key })
  void firstOf(kept, 1).then(() => {
    isOver = true
  })
  keys = [{ ...one.stored, revoked: Date.now() }, two.stored]
  expect((await ended).map(readEvent)).toEqual([
    { event: 'end', seq: 18261, code: 4030, message: '此 API key 已被吊销。' },
  ])
  expect(isOver).toBe(false)
})

test('openFeeds: a feed ends after two checks without a list of keys, however earlier feeds ended, and at the stop', async () => {
  const [clock, stopping] = [handClock(), stoppingService()]
  const { add } = openFeeds({
    store: {} as never,
    keyring: { refusalCheck: () => undefined } as never,
    clock,
    stopping,
  })
  const check = async (): Promise<void> => {
    await clock.awaited(100)
    await clock.pass(100)
    await clock.awaited(100)
  }
  const ended: string[] = []
  const feed = { keyHash: 'x', end: ({ kind }: Failure) => void ended.push(kind), cutOff: () => undefined }
  const remove = add(feed)
  await check()
  remove()
  await clock.awaited(100, 0)
  add(feed)
  await check()
  expect(ended).toEqual([])
  await check()
  expect(ended.splice(0)).toEqual(['unavailable'])
  stopping.begin()
  expect(ended).toEqual(['unavailable'])
})

test('feeds: all feeds end when the service stops', async () => {
  const stopping = stoppingService()
  const { open } = openService({ stopping })
  const ended = firstOf(await open('&lang=zh'), 2)
  stopping.begin()
  expect((await ended).map(readEvent)).toMatchObject([{ event: 'end', message: '服务正在停止；请重新连接。' }])
})

test('feeds: a feed opened while the service stops is a stream that ends, and queries are refused', async () => {
  const stopping = stoppingService()
  const asked = Promise.withResolvers<void>()
  let count = 0
  const read = () => {
    count += 1
    if (count === 2) asked.resolve()
    return new Promise<never>(() => undefined)
  }
  const { get } = serviceOn({ ...store, read }, { stopping })
  const [feed, query] = [get(LIST), get(LIST.replace('&format=sse', ''))]
  await asked.promise
  stopping.begin()
  stopping.end()
  const paused = await feed
  expect([paused.status, paused.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  expect(await paused.text()).toMatch(/^retry: \d+\n/)
  const refused = await query
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
  expect(await refused.json()).toMatchObject({ code: 5030, data: {} })
})

test('client: followHead reports head rows and dropped ones, and sends the id to continue from', async () => {
  const packed = (id: string, row: number) => `id: ${id}\nevent: packed\ndata: {"n":${row}}\n\n`
  const row = (id: string, n: number) => `id: ${id}\ndata: {"seq":${n}}\n\n`
  const bodies = [
    `id: 4@6.a\n\n${packed('4@6.a', 5)}${packed('4@6.a', 6)}`,
    `id: 4@6.a\n\nid: 4@7.b\nevent: dropped\ndata: {"from_block":"7"}\n\n${row('5@7.b', 5)}${packed('5@7.b', 7)}`,
    `id: 4@7.b\n\nid: 4@7.b\nevent: dropped\ndata: {"from_block":"8"}\n\n${row('5@7.b', 5)}${row('6', 6)}`,
    `id: 5\n\n${row('6', 9)}`,
  ]
  const ids: (string | null)[] = []
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    expect(new URL(url).searchParams.get('head')).toBe('1')
    ids.push(new Headers(init.headers).get('last-event-id'))
    return new Response(bodies[ids.length - 1])
  }
  const client = await clientOf({ ask, key: '' }, { fetch })
  const { followHead } = client['getAccountTx'] as unknown as { followHead(params: object): AsyncGenerator<unknown> }
  const events: unknown[] = []
  const read = async () => {
    for await (const event of followHead({ account: 'busyhub' })) events.push(event)
  }
  // The last row is sent again with other content.
  await expect(read()).rejects.toThrow('Blocks were taken back')
  expect(events).toEqual([
    { event: 'packed', row: { n: 5 } },
    { event: 'packed', row: { n: 6 } },
    { event: 'dropped', from_block: '7' },
    { event: 'irreversible', row: { seq: 5 } },
    { event: 'packed', row: { n: 7 } },
    { event: 'dropped', from_block: '8' },
    { event: 'irreversible', row: { seq: 6 } },
  ])
  expect(ids).toEqual([null, '4@6.a', '4@7.b', '5'])
})

/** Ten minutes before midnight. */
const EVENING = Date.UTC(2026, 0, 1, 23, 50)
const MINUTE_MS = 60_000

/** A service in the evening, with one key. */
async function startInEvening(perDay: number, more: { readonly expires?: number } = {}) {
  const clock = handClock(EVENING)
  const { key, stored } = createKey('reader', { perSecond: 100, perDay }, { now: EVENING, ...more })
  const { get } = serviceOn(store, {
    clock,
    keyring: testKeyring(() => [stored], { clock }),
    rates: createRates({ clock }),
  })
  const ask = (path: string, last?: number, init: RequestInit = {}) =>
    get(path, { 'x-api-key': key, ...(last !== undefined && { 'last-event-id': String(last) }) }, init)
  /** Collects the events of a feed. */
  const follow = async (query: string, last?: number) => {
    const leaving = new AbortController()
    const response = await ask(LIST + query, last, { signal: leaving.signal })
    expect(response.status).toBe(200)
    const events: FeedEvent[] = []
    let isOver = false
    const reading = collectEvents(response.body, leaving.signal, events).then(() => {
      isOver = true
    })
    return {
      events,
      rows: () => events.filter(({ event }) => event === 'message').map(({ id }) => Number.parseInt(id ?? '', 10)),
      last: () => events.slice(-1).map(readEvent),
      isOver: () => isOver,
      /** Advances the clock until `count` events have come or the feed has ended. */
      until: async (count = Number.POSITIVE_INFINITY) => {
        while (!isOver && events.length < count) {
          await Bun.sleep(1)
          await clock.pass(10)
        }
      },
      leave: async () => {
        leaving.abort()
        await reading
      },
    }
  }
  return { clock, ask, follow }
}

const from = (first: number, length: number) => Array.from({ length }, (_, at) => first + at)

test('feeds: the expiry of a key ends its feeds, and the key opens none', async () => {
  const { clock, ask, follow } = await startInEvening(100, { expires: EVENING + MINUTE_MS })
  const feed = await follow('&start_seq=18261')
  await feed.until(1)
  await clock.pass(EVENING + MINUTE_MS - 1_000 - clock.now())
  expect([feed.isOver(), feed.events.length]).toEqual([false, 1])
  await clock.pass(1_200)
  await feed.until()
  const message = 'This API key expired on 2026-01-01T23:51:00.000Z.'
  expect(feed.last()).toEqual([{ event: 'end', seq: 18261, code: 4030, message }])
  expect(await readRefusal(await ask(LIST, 18_261))).toEqual([403, message])
})

test('feeds: when the day has no request left for the next thousand rows, a feed ends after the last row and continues there the next day', async () => {
  const { clock, ask, follow } = await startInEvening(3)
  const feed = await follow('&start_seq=1')
  await feed.until()
  expect(feed.rows()).toEqual(from(1, 3_000))
  const message = 'This API key is limited to 3 requests per day; 0 are left today, and 1 more are needed.'
  expect(feed.last()).toEqual([{ event: 'end', seq: 3_000, code: 4290, message }])
  const refused = await ask(LIST)
  const left = Math.ceil((EVENING + 10 * MINUTE_MS - clock.now()) / 1_000)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String(left)])
  // A client that continues waits for its turn instead.
  const waiting = await ask(LIST, 3_000)
  expect([waiting.status, await waiting.text()]).toEqual([200, expect.stringMatching(/^retry: 6\d{4}\n: .+\n\n$/)])
  clock.leap(left * 1_000)
  const next = await follow('', 3_000)
  await next.until(500)
  expect(next.rows().slice(0, 500)).toEqual(from(3_001, 500))
  await next.leave()
})

test('feeds: an open feed continues after the requests of the day are used up', async () => {
  const { clock, ask, follow } = await startInEvening(2)
  const feed = await follow('&start_seq=17500')
  await feed.until(762)
  for (const status of [200, 429]) expect((await ask('/api/base/get-overview')).status).toBe(status)
  await clock.pass(5_000)
  expect(feed.isOver()).toBe(false)
  await feed.leave()
})

test('pausedFeed: a reconnection gets an empty stream for each failure that passes, and for no other', async () => {
  const replyOptions = { lang: 'en', format: 'envelope', secrets: [] } as const
  for (const kind of Object.keys(codes) as FailureKind[])
    for (const [name, headers, isBack] of [
      ['lastEventId', {}, true],
      ['Last-Event-ID', {}, true],
      ['_', { 'last-event-id': '7' }, true],
      ['_', {}, false],
    ] as const) {
      const request = new Request('http://localhost/api/', { headers })
      const query = Object.entries({ format: 'sse', [name]: '7' })
      const asked = { request, query, replyOptions }
      const reply = pausedFeed(asked, new Failure(kind, 'No room.', { details: { retryAfter: 3 } }))
      const isPassing = codes[kind].status === 429 || codes[kind].status >= 500
      expect([kind, name, reply?.status]).toEqual([kind, name, isPassing && isBack ? 200 : undefined])
      if (reply !== undefined) expect(String(reply.body)).toMatch(/^retry: (?:[3-9]|1[0-2])\d{3}\n: .+\n\n$/)
      expect(pausedFeed(asked, new Restarting('unavailable', 'Starting.'))?.status).toBe(200)
    }
})

test('feeds: the last id may be in the query, in two spellings; the header is later; only feeds take it', async () => {
  const first = async (...asked: Parameters<typeof open>) => (await firstOf(await open(...asked), 1))[0]?.id
  for (const name of ['lastEventId', 'Last-Event-ID', 'Last%2DEvent%2DID']) {
    expect(await first(`&start_seq=5&${name}=11`)).toBe('12')
    expect(await first(`&start_seq=5&${name}=11`, { 'last-event-id': '20' })).toBe('21')
    expect(await first(`&start_seq=5&${name}=`)).toBe('5')
    expect((await get(`/api/account/get-account-tx?account=busyhub&${name}=11`)).status).toBe(400)
  }
  for (const query of ['&lastEventId=x', '&lastEventId=1&lastEventId=2']) expect((await open(query)).status).toBe(400)
  expect((await open('&lastEventId=11', { 'x-api-key': 'wrong-key-of-nobody' })).status).toBe(401)
})

test('feeds: every id comes with data, also the first one', async () => {
  let text = ''
  for await (const part of (await open('&start_seq=17000')).body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part
    if (/^id: 18261@/m.test(text) && text.endsWith('\n\n')) break
  }
  const messages = text.split('\n\n').slice(0, -1)
  expect(messages.length).toBeGreaterThan(1_000)
  expect(messages.filter(each => /^id: /m.test(each) && !/^data: ./m.test(each))).toEqual([])
})

const FEEDS = 80
/** The clock of plans runs faster, and the readers wait less in proportion. */
const FAST = 8

test('feeds: all feeds of a key continue by themselves after a restart, though more come than its plan allows', async () => {
  const own = createKey('wall', { perSecond: 20, perDay: 100_000 }, { now: 0 })
  const serve = () => {
    const stopping = stoppingService()
    const now = () => FAST * Date.now()
    const over = { keys: [own.stored], now, maxFeedsPerKey: FEEDS, stopping, clock: systemClock }
    return { ...serviceOn(store, over), stopping }
  }
  let served = serve()
  const open = new Set<number>()
  const dead: number[] = []
  const leaving = new AbortController()
  const { signal } = leaving
  /** An `EventSource` of the standard, without its browser. */
  const follow = async (at: number): Promise<void> => {
    let [id, retryMs, isFirst] = ['', 50, true]
    while (!signal.aborted) {
      const headers = { 'x-api-key': own.key, ...(id !== '' && { 'last-event-id': id }) }
      const response = await served.get(LIST, headers, { signal })
      if (response.status !== 200 && !isFirst) return void dead.push(response.status)
      const decoder = new TextDecoder()
      try {
        for await (const part of response.status === 200 ? (response.body ?? []) : []) {
          const text = decoder.decode(part)
          retryMs = Number(/^retry: (\d+)$/m.exec(text)?.[1] ?? retryMs)
          const next = /^id: (.+)$/m.exec(text)?.[1]
          if (next === undefined) continue
          ;[id, isFirst] = [next, false]
          open.add(at)
        }
      } catch {}
      open.delete(at)
      await Bun.sleep(retryMs / FAST)
    }
  }
  const all = Array.from({ length: FEEDS }, (_, at) => follow(at))
  await until(() => open.size === FEEDS)
  const before = served
  served = serve()
  before.stopping.begin()
  await until(() => open.size === 0)
  await until(() => open.size + dead.length >= FEEDS)
  expect(dead).toEqual([])
  leaving.abort()
  await Promise.allSettled(all)
})
