import { expect, test } from 'bun:test'
import { formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { stoppingService } from '#http/stopping.ts'
import { createKey } from '#keys/key.ts'
import { keyring } from '#keys/keyring.ts'
import type { StoredKey } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { clientOf } from '../support/processes/client.ts'
import { type FeedEvent, feedEvents, feedMessages } from '../support/processes/feed-client.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'

/** The begin and end of feeds of a chain that stands still. */

const LIST = '/api/account/get-account-tx?account=busyhub&format=sse'
const PLAN = { perSecond: 1_000, perDay: 100_000 }

async function started(over: Parameters<typeof serviceOn>[1] = {}) {
  const service = serviceOn(await loadedStore(), over)
  const open = (query = '', { key = service.key, headers = {} as Record<string, string> } = {}) =>
    service.ask(LIST + query, { headers: { 'x-api-key': key, ...headers } })
  return { ...service, open }
}

/** The first `count` events of a feed. */
const firstOf = (response: Response, count: number) => readSome(feedEvents(response.body), count)
/** The same with its beginning. */
const messagesOf = (response: Response, count: number) => readSome(feedMessages(response.body), count)

async function readSome(events: AsyncGenerator<FeedEvent, void>, count: number): Promise<readonly FeedEvent[]> {
  const read: FeedEvent[] = []
  for await (const event of events) if (read.push(event) === count) break
  return read
}

test('feeds: rows start after start_seq, or after Last-Event-ID, which takes precedence', async () => {
  const { open } = await started()
  const ids = async (query: string, headers = {}) =>
    (await firstOf(await open(query, { headers }), 3)).map(({ id }) => id)
  expect(await ids('&start_seq=7')).toEqual(['7', '8', '9'])
  expect(await ids('&start_seq=7', { 'last-event-id': '100' })).toEqual(['101', '102', '103'])
  expect(await ids('', { 'last-event-id': '0' })).toEqual(['1', '2', '3'])
})

test('feeds: the first message names the last row, so that a reconnect before the first row misses none', async () => {
  const { open } = await started()
  const reader = (await open()).body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  expect(new TextDecoder().decode(value as Uint8Array)).toMatch(
    /^retry: [123]\d{3}\n: block 4851\nid: 18261@4851\.\w{24}\nevent: begin\ndata: \{"block_height":"4851"\}\n\n$/,
  )
  await reader?.cancel()
})

test('feeds: the first message repeats the chain of a client, whose packed rows are then dropped, as with the id of an older service', async () => {
  const { open } = await started()
  const [begin] = await messagesOf(await open(), 1)
  const trail = begin?.id?.slice('18261'.length) ?? ''
  for (const [last, id, block] of [
    [`18261${trail}`, `18261${trail}`, '4852'],
    [`18261-4850-4901-2-abc-1234wxyz${trail}`, `18261${trail}`, '4852'],
    // Packed rows of any block may be those of another chain.
    ['18261', '18261', '0'],
    ['18261-4850-4901-2-abc-1234wxyz', '18261', '0'],
  ] as const) {
    const response = await open('&head=1', { headers: { 'last-event-id': last } })
    expect([last, await messagesOf(response, 2)]).toEqual([
      last,
      [
        { id, event: 'message', data: '' },
        { id: `18261${trail}`, event: 'dropped', data: `{"from_block":"${block}"}` },
      ],
    ])
  }
})

test('feeds: a client with more rows than the list gets a reset to the last valid row', async () => {
  const { open } = await started()
  const [end] = await firstOf(await open('', { headers: { 'last-event-id': '18262' } }), 2)
  expect([end?.id, end?.event, JSON.parse(end?.data ?? '')]).toMatchObject([
    '18261',
    'reset',
    { seq: 18261, block_height: '4851' },
  ])
})

test('feeds: calls without a feed, and parameters that a feed does not use, are refused', async () => {
  const { ask, key, open } = await started()
  const refusal = async (response: Response) => {
    const { message } = (await response.json()) as { message: string }
    return [response.status, message]
  }
  expect((await refusal(await open('&page=1')))[1]).toStartWith("Parameter 'page' does not go with format=sse")
  expect((await refusal(await open('&end_seq=5')))[1]).toStartWith("Parameter 'end_seq' does not go")
  expect((await refusal(await open('&sort=desc')))[1]).toStartWith("Parameter 'sort' is 'desc'")
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
  const { open } = await started({ maxFeeds: 3, maxFeedsPerKey: 2, keys: [other.stored] })
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
  const { open } = await started({ keyring: ring })
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
  const { open } = await started({ stopping })
  const ended = firstOf(await open('&lang=zh'), 2)
  stopping.begin()
  expect((await ended).map(({ event, data }) => [event, JSON.parse(data).message])).toEqual([
    ['end', '服务正在停止；请重新连接。'],
  ])
})

test('feeds: a feed opened while the service stops is a stream that ends, and queries are refused', async () => {
  const stopping = stoppingService()
  const store = await loadedStore()
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

test('client: follow continues after the last row, however its connections end', async () => {
  const service = await started()
  let asked = 0
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await service.ask(url.slice('http://inside'.length), init)
    asked += 1
    const events = await firstOf(response, 1 + asked)
    const text = events.map(({ id, data }) => `id: ${id}\ndata: ${data}\n\n`).join('')
    return new Response(text, { status: response.status, headers: response.headers })
  }
  const client = await clientOf(service, { fetch })
  const seqs: number[] = []
  const action = client['getAccountTx'] as unknown as {
    follow(params: object): AsyncGenerator<{ readonly seq: number }, void>
  }
  for await (const { seq } of action.follow({ account: 'busyhub', start_seq: 11 })) {
    seqs.push(seq)
    if (seqs.length === 12) break
  }
  expect(seqs).toEqual(Array.from({ length: 12 }, (_, at) => 11 + at))
  expect(asked).toBeGreaterThan(2)
})

test('client: followHead reports head rows and dropped ones, and sends the id to continue from', async () => {
  const service = await started()
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
