import { expect, test } from 'bun:test'
import { Failure, type FailureKind, Restarting } from '#failure/failure.ts'
import { codes } from '#http/codes.ts'
import { pausedFeed } from '#http/feed/events.ts'
import { type Stopping, stoppingService } from '#http/stopping.ts'
import { createKey } from '#keys/key.ts'
import { feedMessages } from '#test/support/processes/feed-client.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { until } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'

/** Clients of feeds that connect again, of which most take any status but 200 for the end. */

const LIST = 'account/get-account-tx?account=busyhub&format=sse'

test('pausedFeed: a reconnection gets an empty stream for each failure that passes, and for no other', async () => {
  for (const kind of Object.keys(codes) as FailureKind[])
    for (const [query, header] of [
      [[['lastEventId', '7']], ''],
      [[['Last-Event-ID', '7']], ''],
      [[], '7'],
      [[], ''],
    ] as const) {
      const request = new Request('http://localhost/api/', {
        headers: header === '' ? {} : { 'last-event-id': header },
      })
      const replyOptions = { lang: 'en', format: 'envelope', secrets: [] } as const
      const asked = { request, query: [['format', 'sse'], ...query] as const, replyOptions }
      const reply = pausedFeed(asked, new Failure(kind, 'No room.', { details: { retryAfter: 3 } }))
      const isPassing = codes[kind].status === 429 || codes[kind].status >= 500
      const isBack = header !== '' || query.length > 0
      expect([kind, query, reply?.status]).toEqual([kind, query, isPassing && isBack ? 200 : undefined])
      if (reply !== undefined) expect(String(reply.body)).toMatch(/^retry: (?:[3-9]|1[0-2])\d{3}\n: .+\n\n$/)
      expect(pausedFeed(asked, new Restarting('unavailable', 'Starting.'))?.status).toBe(200)
    }
})

test('feeds: the last id may be in the query, in two spellings; the header is later; only feeds take it', async () => {
  const { ask, key } = serviceOn(await loadedStore())
  const first = async (query: string, headers: Record<string, string> = {}): Promise<string | undefined> => {
    const gone = new AbortController()
    const response = await ask(`/api/${LIST}&apikey=${key}${query}`, { headers, signal: gone.signal })
    expect(response.status).toBe(200)
    for await (const { id, data } of feedMessages(response.body)) if (data !== '') return id
    return undefined
  }
  for (const name of ['lastEventId', 'Last-Event-ID', 'Last%2DEvent%2DID']) {
    expect(await first(`&start_seq=5&${name}=11`)).toBe('12')
    expect(await first(`&start_seq=5&${name}=11`, { 'last-event-id': '20' })).toBe('21')
    expect(await first(`&start_seq=5&${name}=`)).toBe('5')
    const page = await ask(`/api/account/get-account-tx?account=busyhub&apikey=${key}&${name}=11`)
    expect(page.status).toBe(400)
  }
  for (const query of ['&lastEventId=x', '&lastEventId=1&lastEventId=2'])
    expect((await ask(`/api/${LIST}&apikey=${key}${query}`)).status).toBe(400)
  expect((await ask(`/api/${LIST}&apikey=wrong-key-of-nobody&lastEventId=11`)).status).toBe(401)
})

test('feeds: every id comes with data, also the first one', async () => {
  const { ask, key } = serviceOn(await loadedStore())
  const response = await ask(`/api/${LIST}&apikey=${key}&start_seq=17000`)
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of response.body ?? []) {
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
  const store = await loadedStore()
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
      const response = await served.service.ask(`/api/${LIST}&apikey=${own.key}`, { headers, signal: stop.signal })
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
