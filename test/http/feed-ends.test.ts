import { expect, test } from 'bun:test'
import { formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { Failure, type FailureKind, Restarting } from '#failure/failure.ts'
import { createRates } from '#gate/rate.ts'
import { codes } from '#http/codes.ts'
import { pausedFeed } from '#http/feed/reply.ts'
import { type Stopping, stoppingService } from '#http/stopping.ts'
import { createKey } from '#keys/key.ts'
import { keyring } from '#keys/keyring.ts'
import type { Plan } from '#keys/plan.ts'
import type { StoredKey } from '#store/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { clientOf } from '#test/support/processes/client.ts'
import { type FeedEvent, feedEvents, feedMessages } from '#test/support/processes/feed-client.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
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

async function openService(over: Parameters<typeof serviceOn>[1] = {}) {
  const service = serviceOn(store, over)
  const open = (query = '', { key = service.key, headers = {} as Record<string, string> } = {}) =>
    service.ask(LIST + query, { headers: { 'x-api-key': key, ...headers } })
  return { ...service, open }
}

/** The first `count` events of a feed, or of its messages. */
async function firstOf({ body }: Response, count: number, parse = feedEvents): Promise<readonly FeedEvent[]> {
  const read: FeedEvent[] = []
  for await (const event of parse(body)) if (read.push(event) === count) break
  return read
}

test('feeds: the first message names the last row, so that a reconnect before the first row misses none', async () => {
  const { open } = await openService()
  const reader = (await open()).body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  expect(new TextDecoder().decode(value as Uint8Array)).toMatch(
    /^retry: [123]\d{3}\n: block 4851\nid: 18261@4851\.\w{24}\nevent: begin\ndata: \{"block_height":"4851"\}\n\n$/,
  )
  await reader?.cancel()
})

test('feeds: the first message repeats the chain of a client, whose packed rows are then dropped, as with the id of an older service', async () => {
  const { open } = await openService()
  const [begin] = await firstOf(await open(), 1, feedMessages)
  const trail = begin?.id?.slice('18261'.length) ?? ''
  for (const [last, id, block] of [
    [`18261${trail}`, `18261${trail}`, '4852'],
    [`18261-4850-4901-2-abc-1234wxyz${trail}`, `18261${trail}`, '4852'],
    // Packed rows of any block may be those of another chain.
    ['18261', '18261', '0'],
    ['18261-4850-4901-2-abc-1234wxyz', '18261', '0'],
  ] as const) {
    const response = await open('&head=1', { headers: { 'last-event-id': last } })
    expect([last, await firstOf(response, 2, feedMessages)]).toEqual([
      last,
      [
        { id, event: 'message', data: '' },
        { id: `18261${trail}`, event: 'dropped', data: `{"from_block":"${block}"}` },
      ],
    ])
  }
})

test('feeds: a client with more rows than the list gets a reset to the last valid row', async () => {
  const { open } = await openService()
  const [end] = await firstOf(await open('', { headers: { 'last-event-id': '18262' } }), 2)
  expect([end?.id, end?.event, JSON.parse(end?.data ?? '')]).toMatchObject([
    '18261',
    'reset',
    { seq: 18261, block_height: '4851' },
  ])
})

test('feeds: calls without a feed, and parameters that a feed does not use, are refused', async () => {
  const { ask, key, open } = await openService()
  const refusal = async (response: Response) => {
    const { message } = (await response.json()) as { message: string }
    return [response.status, message]
  }
  for (const [query, said] of [
    ['&page=1', "Parameter 'page' does not go with format=sse"],
    ['&end_seq=5', "Parameter 'end_seq' does not go"],
    ['&sort=desc', "Parameter 'sort' is 'desc'"],
  ] as const)
    expect((await refusal(await open(query)))[1]).toStartWith(said)
  expect((await refusal(await open('', { headers: { 'last-event-id': 'x' } })))[1]).toStartWith("Last-Event-ID is 'x'")
  for (const list of ['account/get-balance-history?account=busyhub', 'producer/get-reward-history?producer=admin']) {
    const steps = await ask(`/api/${list}&step=day&format=sse&apikey=${key}`)
    expect(await refusal(steps)).toEqual([400, expect.stringContaining("Parameter 'step' does not go")])
  }
  const wealth = await ask(`/api/base/get-wealth-list?format=sse&apikey=${key}`)
  const feeds = actions.filter(({ source }) => source?.isFeed === true).map(formatActionName)
  expect(await refusal(wealth)).toEqual([400, expect.stringContaining(`: ${feeds.join(', ')}. `)])
})

test('feeds: the number of feeds is limited per key and in all, and leaving clients release their places', async () => {
  const other = createKey('other', PLAN, { now: Date.now() })
  const { open } = await openService({ maxFeeds: 3, maxFeedsPerKey: 2, keys: [other.stored] })
  const [first] = [await open(), await open()]
  expect((await open()).status).toBe(429)
  const third = await open('', { key: other.key })
  expect([third.status, (await open('', { key: other.key })).status]).toEqual([200, 503])
  await first?.body?.cancel()
  expect((await open()).status).toBe(200)
})

test('feeds: revoking a key ends its feeds, and no others', async () => {
  const [one, two] = ['one', 'two'].map(name => createKey(name, PLAN, { now: Date.now() }))
  let keys: readonly StoredKey[] = [one?.stored, two?.stored].filter(key => key !== undefined)
  const ring = keyring({
    store: { read: async () => ({ keys, isStart: true, isEnd: true, mark: undefined }) },
    clock: systemClock,
  })
  const { open } = await openService({ keyring: ring })
  const ended = firstOf(await open('', { key: one?.key ?? '' }), 2)
  let isOver = false
  const kept = await open('', { key: two?.key ?? '' })
  void firstOf(kept, 1).then(() => {
    isOver = true
  })
  keys = keys.map(key => (key.id === one?.stored.id ? { ...key, revoked: Date.now() } : key))
  expect((await ended).map(({ event, data }) => [event, JSON.parse(data)])).toEqual([
    ['end', { seq: 18261, code: 4030, message: 'This API key is revoked.' }],
  ])
  expect(isOver).toBe(false)
})

test('feeds: all feeds end when the service stops', async () => {
  const stopping = stoppingService()
  const { open } = await openService({ stopping })
  const ended = firstOf(await open('&lang=zh'), 2)
  stopping.begin()
  expect((await ended).map(({ event, data }) => [event, JSON.parse(data).message])).toEqual([
    ['end', '服务正在停止；请重新连接。'],
  ])
})

test('feeds: a feed opened while the service stops is a stream that ends, and queries are refused', async () => {
  const stopping = stoppingService()
  const asked = Promise.withResolvers<void>()
  let count = 0
  const hanging = () => {
    count += 1
    if (count === 2) asked.resolve()
    return new Promise<never>(() => undefined)
  }
  const { ask, key } = serviceOn({ ...store, read: hanging }, { stopping })
  const feed = ask(LIST, { headers: { 'x-api-key': key } })
  const query = ask(`/api/account/get-account-tx?account=busyhub&apikey=${key}`)
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
  const service = await openService()
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
  const client = await clientOf(service, { fetch })
  const events: unknown[] = []
  const action = client['getAccountTx'] as unknown as {
    followHead(params: object): AsyncGenerator<{ readonly event: string }, void>
  }
  const reading = (async () => {
    for await (const event of action.followHead({ account: 'busyhub' })) events.push(event)
  })()
  // The last row is sent again with other content.
  await expect(reading).rejects.toThrow('Blocks were taken back')
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
const NIGHT_MS = 600_000
const MINUTE_MS = 60_000

async function startInEvening(plan: Plan, { expires }: { readonly expires?: number } = {}) {
  const clock = handClock(EVENING)
  const { key, stored } = createKey('reader', plan, { now: EVENING, ...(expires !== undefined && { expires }) })
  const keys = { read: async () => ({ keys: [stored], isStart: true, isEnd: true, mark: undefined }) }
  const over = { clock, keyring: keyring({ store: keys, clock }), rates: createRates({ clock }) }
  const service = serviceOn(store, over)
  const ask = (path: string, last?: number, init: RequestInit = {}) =>
    service.ask(path, {
      ...init,
      headers: { 'x-api-key': key, ...(last !== undefined && { 'last-event-id': String(last) }) },
    })
  /** Collects the events of a feed. */
  const follow = async (query: string, last?: number) => {
    const leaving = new AbortController()
    const response = await ask(LIST + query, last, { signal: leaving.signal })
    expect(response.status).toBe(200)
    const events: FeedEvent[] = []
    let isOver = false
    const read = async (): Promise<void> => {
      for await (const event of feedEvents(response.body)) events.push(event)
      isOver = true
    }
    // After the client leaves, the body ends with an error.
    const reading = read().catch(error => leaving.signal.aborted || Promise.reject(error))
    return {
      events,
      rows: () => events.filter(({ event }) => event === 'message').map(({ id }) => Number.parseInt(id ?? '', 10)),
      last: () => ({ event: events.at(-1)?.event, ...JSON.parse(events.at(-1)?.data ?? '{}') }),
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
  const { clock, ask, follow } = await startInEvening({ perSecond: 100, perDay: 100 }, { expires: EVENING + MINUTE_MS })
  const feed = await follow('&start_seq=18261')
  await feed.until(1)
  await clock.pass(EVENING + MINUTE_MS - 1_000 - clock.now())
  expect([feed.isOver(), feed.events.length]).toEqual([false, 1])
  await clock.pass(1_200)
  await feed.until()
  const message = 'This API key expired on 2026-01-01T23:51:00.000Z.'
  expect(feed.last()).toEqual({ event: 'end', seq: 18261, code: 4030, message })
  const again = await ask(LIST, 18_261)
  expect([again.status, ((await again.json()) as { readonly message: string }).message]).toEqual([403, message])
})

test('feeds: when the day has no request left for the next thousand rows, a feed ends after the last row and continues there the next day', async () => {
  const { clock, ask, follow } = await startInEvening({ perSecond: 100, perDay: 3 })
  const feed = await follow('&start_seq=1')
  await feed.until()
  expect(feed.rows()).toEqual(from(1, 3_000))
  expect(feed.last()).toEqual({
    event: 'end',
    seq: 3_000,
    code: 4290,
    message: 'This API key is limited to 3 requests per day; 0 are left today, and 1 more are needed.',
  })
  const refused = await ask(LIST)
  const left = Math.ceil((EVENING + NIGHT_MS - clock.now()) / 1_000)
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
  const { clock, ask, follow } = await startInEvening({ perSecond: 100, perDay: 2 })
  const feed = await follow('&start_seq=17500')
  await feed.until(762)
  expect((await ask('/api/base/get-overview')).status).toBe(200)
  expect((await ask('/api/base/get-overview')).status).toBe(429)
  await clock.pass(5_000)
  expect(feed.isOver()).toBe(false)
  await feed.leave()
})

test('pausedFeed: a reconnection gets an empty stream for each failure that passes, and for no other', async () => {
  const replyOptions = { lang: 'en', format: 'envelope', secrets: [] } as const
  for (const kind of Object.keys(codes) as FailureKind[])
    for (const [query, headers, isBack] of [
      [[['lastEventId', '7']], {}, true],
      [[['Last-Event-ID', '7']], {}, true],
      [[], { 'last-event-id': '7' }, true],
      [[], {}, false],
    ] as const) {
      const request = new Request('http://localhost/api/', { headers })
      const asked = { request, query: [['format', 'sse'], ...query] as const, replyOptions }
      const reply = pausedFeed(asked, new Failure(kind, 'No room.', { details: { retryAfter: 3 } }))
      const isPassing = codes[kind].status === 429 || codes[kind].status >= 500
      expect([kind, query, reply?.status]).toEqual([kind, query, isPassing && isBack ? 200 : undefined])
      if (reply !== undefined) expect(String(reply.body)).toMatch(/^retry: (?:[3-9]|1[0-2])\d{3}\n: .+\n\n$/)
      expect(pausedFeed(asked, new Restarting('unavailable', 'Starting.'))?.status).toBe(200)
    }
})

const service = serviceOn(store)
const ask = (query: string, headers: Record<string, string> = {}, key = service.key) =>
  service.ask(`${LIST}&apikey=${key}${query}`, { headers })

test('feeds: the last id may be in the query, in two spellings; the header is later; only feeds take it', async () => {
  const first = async (query: string, headers: Record<string, string> = {}): Promise<string | undefined> => {
    const response = await ask(query, headers)
    expect(response.status).toBe(200)
    for await (const { id, data } of feedMessages(response.body)) if (data !== '') return id
    return undefined
  }
  for (const name of ['lastEventId', 'Last-Event-ID', 'Last%2DEvent%2DID']) {
    expect(await first(`&start_seq=5&${name}=11`)).toBe('12')
    expect(await first(`&start_seq=5&${name}=11`, { 'last-event-id': '20' })).toBe('21')
    expect(await first(`&start_seq=5&${name}=`)).toBe('5')
    const page = await service.ask(`/api/account/get-account-tx?account=busyhub&apikey=${service.key}&${name}=11`)
    expect(page.status).toBe(400)
  }
  for (const query of ['&lastEventId=x', '&lastEventId=1&lastEventId=2']) expect((await ask(query)).status).toBe(400)
  expect((await ask('&lastEventId=11', {}, 'wrong-key-of-nobody')).status).toBe(401)
})

test('feeds: every id comes with data, also the first one', async () => {
  const { body } = await ask('&start_seq=17000')
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of body ?? []) {
    text += decoder.decode(part, { stream: true })
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
  const serving = (): { readonly service: Service; readonly stopping: Stopping } => {
    const stopping = stoppingService()
    const over = {
      keys: [own.stored],
      now: () => FAST * Date.now(),
      maxFeedsPerKey: FEEDS,
      stopping,
      clock: systemClock,
    }
    return { service: serviceOn(store, over), stopping }
  }
  let served = serving()
  const open = new Set<number>()
  const dead: number[] = []
  const stop = new AbortController()
  /** An `EventSource` of the standard, without its browser. */
  const follow = async (at: number): Promise<void> => {
    let [id, retryMs, isFirst] = ['', 50, true]
    while (!stop.signal.aborted) {
      const headers: Record<string, string> = id === '' ? {} : { 'last-event-id': id }
      const response = await served.service.ask(`${LIST}&apikey=${own.key}`, { headers, signal: stop.signal })
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
  served = serving()
  before.stopping.begin()
  await until(() => open.size === 0)
  await until(() => open.size + dead.length >= FEEDS)
  expect(dead).toEqual([])
  stop.abort()
  await Promise.allSettled(all)
})
