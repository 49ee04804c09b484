import { expect, test } from 'bun:test'
import { createRates } from '#gate/rate.ts'
import { createKey } from '#keys/key.ts'
import { keyring } from '#keys/keyring.ts'
import type { Plan } from '#keys/plan.ts'
import { handClock } from '../support/clocks/hand-clock.ts'
import { type FeedEvent, feedEvents } from '../support/processes/feed-client.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'

/** Open feeds when their key expires, and when the daily requests of the key are used up. */

const LIST = '/api/account/get-account-tx?account=busyhub&format=sse'
/** Ten minutes before midnight. */
const EVENING = Date.UTC(2026, 0, 1, 23, 50)
const NIGHT_MS = 600_000
const MINUTE_MS = 60_000

async function started(plan: Plan, { expires }: { readonly expires?: number } = {}) {
  const clock = handClock(EVENING)
  const options = expires === undefined ? { now: EVENING } : { now: EVENING, expires }
  const { key, stored } = createKey('reader', plan, options)
  const service = serviceOn(await loadedStore(), {
    clock,
    keyring: keyring({
      store: { read: async () => ({ keys: [stored], isStart: true, isEnd: true, mark: undefined }) },
      clock,
    }),
    rates: createRates({ clock }),
  })
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}, init: RequestInit = {}) =>
    service.ask(path, { ...init, headers: { 'x-api-key': key, ...headers } })
  return {
    clock,
    ask,
    /** Collects the events of a feed. */
    follow: async (query = '', headers: Readonly<Record<string, string>> = {}) => {
      const leaving = new AbortController()
      const response = await ask(LIST + query, headers, { signal: leaving.signal })
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
    },
  }
}

function lastOf(events: readonly FeedEvent[]) {
  const { event, data } = events.at(-1) ?? {}
  return { event, ...JSON.parse(data ?? '{}') }
}

test('feeds: the expiry of a key ends its feeds, and the key opens none', async () => {
  const service = await started({ perSecond: 100, perDay: 100 }, { expires: EVENING + MINUTE_MS })
  const feed = await service.follow('&start_seq=18261')
  await feed.until(1)
  await service.clock.pass(EVENING + MINUTE_MS - 1_000 - service.clock.now())
  expect([feed.isOver(), feed.events.length]).toEqual([false, 1])
  await service.clock.pass(1_200)
  await feed.until()
  const message = 'This API key expired on 2026-01-01T23:51:00.000Z.'
  expect(lastOf(feed.events)).toEqual({ event: 'end', seq: 18261, code: 4030, message })
  const again = await service.ask(LIST, { 'last-event-id': '18261' })
  expect([again.status, ((await again.json()) as { readonly message: string }).message]).toEqual([403, message])
})

test('feeds: when the day has no request left for the next thousand rows, a feed ends after the last row and continues there the next day', async () => {
  const service = await started({ perSecond: 100, perDay: 3 })
  const feed = await service.follow('&start_seq=1')
  await feed.until()
  const rows = feed.events.slice(0, -1)
  expect(rows.map(({ id }) => Number.parseInt(id ?? '', 10))).toEqual(Array.from({ length: 3_000 }, (_, at) => at + 1))
  expect(lastOf(feed.events)).toEqual({
    event: 'end',
    seq: 3_000,
    code: 4290,
    message: 'This API key is limited to 3 requests per day; 0 are left today, and 1 more are needed.',
  })
  const refused = await service.ask(LIST)
  const left = Math.ceil((EVENING + NIGHT_MS - service.clock.now()) / 1_000)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String(left)])
  // A client that continues waits for its turn instead.
  const waiting = await service.ask(LIST, { 'last-event-id': '3000' })
  expect([waiting.status, await waiting.text()]).toEqual([200, expect.stringMatching(/^retry: 6\d{4}\n: .+\n\n$/)])
  service.clock.leap(left * 1_000)
  const next = await service.follow('', { 'last-event-id': '3000' })
  await next.until(500)
  expect(next.events.slice(0, 500).map(({ id }) => Number.parseInt(id ?? '', 10))).toEqual(
    Array.from({ length: 500 }, (_, at) => 3_001 + at),
  )
  await next.leave()
})

test('feeds: an open feed continues after the requests of the day are used up', async () => {
  const service = await started({ perSecond: 100, perDay: 2 })
  const feed = await service.follow('&start_seq=17500')
  await feed.until(762)
  expect((await service.ask('/api/base/get-overview')).status).toBe(200)
  expect((await service.ask('/api/base/get-overview')).status).toBe(429)
  await service.clock.pass(5_000)
  expect(feed.isOver()).toBe(false)
  await feed.leave()
})
