import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createKey } from '#keys/key.ts'
import type { Store } from '#store/port.ts'
import { type HandClock, handClock } from '#test/support/clocks/hand-clock.ts'
import { openProxy, pass } from '#test/support/nodes/faulty-proxy.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'
import { fillFromRecording } from '#test/support/stores/loaded.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { until } from '#test/support/wait.ts'
import { ask, type Call, callsOn, lists } from './list-calls.ts'

/**
 * Readers of every list, in every format, that stall or leave at the same time: the service must release all
 * their resources (views and points in time of the store, running reads, places, timers, connections), and
 * other readers continue.
 */

const STALL_MS = 40_000
const PLAN = { perSecond: 1_000_000, perDay: 1_000_000_000 }
/** Every list has rows at this height of the recorded chain. */
const HEIGHT = 820

/** Open views and running reads of the store. */
const holding = { views: 0, reads: 0 }

/** A store that counts its open resources. */
const watched = (store: Store): Store => ({
  ...store,
  read: async (work, options) => {
    holding.reads += 1
    return store.read(work, options).finally(() => {
      holding.reads -= 1
    })
  },
  hold: async options => {
    const held = await store.hold(options)
    holding.views += 1
    let isOpen = true
    const close = (): void => {
      if (isOpen) holding.views -= 1
      isOpen = false
      held.close()
    }
    return { ...held, close }
  },
})

/** A reader that does not read an export to its end. */
type Reader = {
  readonly reader: { read(): Promise<unknown>; cancel(): Promise<void> }
  readonly client: AbortController
}

type Ending = {
  /** The kind that the service logs for it. */
  readonly kind: 'gone' | 'stalled'
  readonly begin?: (one: Reader) => Promise<unknown>
  readonly end: (readers: readonly Reader[], clock: HandClock) => Promise<unknown>
}

const stall: Ending['end'] = (_, clock) => clock.pass(STALL_MS)

const ENDINGS: Readonly<Record<string, Ending>> = {
  'take nothing': { kind: 'stalled', end: stall },
  'take a part and no more': { kind: 'stalled', begin: ({ reader }) => reader.read(), end: stall },
  'take a part and leave': {
    kind: 'gone',
    begin: ({ reader }) => reader.read(),
    end: readers => Promise.all(readers.map(({ reader }) => reader.cancel())),
  },
  'lose their connection': {
    kind: 'gone',
    begin: ({ reader }) => reader.read(),
    end: async readers => {
      for (const { client } of readers) client.abort()
    },
  },
}

let own: Awaited<ReturnType<typeof temporarySqlite>>
let calls: readonly Call[]
let service: Service
let clock: HandClock
/** A key for each list. */
let holders: readonly string[]
/** Every list, by format. */
const whole = new Map<string, readonly string[]>()

beforeAll(async () => {
  own = await temporarySqlite()
  await fillFromRecording(own.store, { to: HEIGHT })
  const all = await callsOn(own.store)
  calls = lists.flatMap(action => all.find(call => call.action === action) ?? [])
  expect(calls.map(({ action }) => action)).toEqual(lists)
  clock = handClock(Date.UTC(2026, 0, 1))
  const keys = calls.map((_, at) => createKey(`holder ${at}`, PLAN, { now: clock.now() }))
  service = serviceOn(watched(own.store), {
    keys: keys.map(({ stored }) => stored),
    clock,
    // Room for all lists at once and one more reader: the next test fails if a place is not released.
    maxExports: calls.length + 1,
    stallMs: STALL_MS,
  })
  holders = keys.map(({ key }) => key)
  for (const format of ['ndjson', 'csv']) whole.set(format, await readAll(format))
})
afterAll(async () => {
  await service.app.stop(true)
  await own.destroy()
})

const kinds = (): readonly unknown[] =>
  service.lines.filter(({ message }) => message === 'Answered request.').map(({ fields }) => fields['kind'])

/** Every list, read to its end by another client. */
async function readAll(format: string): Promise<readonly string[]> {
  const texts: string[] = []
  for (const call of calls) {
    const response = await ask(service, call, { format })
    const text = await response.text()
    expect([call.name, response.status, text.length > 0]).toEqual([call.name, 200, true])
    texts.push(text)
  }
  return texts
}

async function expectNothingHeld(): Promise<void> {
  await until(() => holding.views === 0 && holding.reads === 0)
  // No timer of a departed reader is left.
  await clock.awaited(STALL_MS, 0)
}

for (const format of ['ndjson', 'csv'])
  for (const [how, { kind, begin, end }] of Object.entries(ENDINGS))
    test(`readers of every list as ${format} that ${how}`, async () => {
      await expectNothingHeld()
      const before = kinds().length
      const readers: Reader[] = []
      for (const [at, call] of calls.entries()) {
        const client = new AbortController()
        const key = holders[at] ?? ''
        const asking = (path: string, init?: RequestInit) => service.ask(path, { ...init, signal: client.signal })
        const response = await ask({ ask: asking, key }, call, { format })
        expect([call.name, response.status]).toEqual([call.name, 200])
        const reader = (response.body as ReadableStream<Uint8Array>).getReader()
        await begin?.({ reader, client })
        readers.push({ reader, client })
      }
      const stateful = calls.filter(({ action }) => (action.source?.state.length ?? 0) > 0)
      expect(holding.views).toBe(stateful.length)

      expect(await readAll(format)).toEqual(whole.get(format) ?? [])
      const others = kinds().length
      expect([others - before, holding.views]).toEqual([calls.length, stateful.length])

      await end(readers, clock)
      await until(() => kinds().length === others + readers.length)
      expect(new Set(kinds().slice(others))).toEqual(new Set([kind]))
      await expectNothingHeld()
      if (kind === 'stalled') for (const { reader } of readers) await expect(reader.read()).rejects.toThrow()
    })

test('clients of every list in every format that disconnect after the first bytes', async () => {
  service.app.listen({ hostname: '127.0.0.1', port: 0 })
  const { server } = service.app
  const before = kinds().length
  for (const format of ['ndjson', 'csv']) {
    const sockets = await Promise.all(
      calls.map(async ({ action, params }, at) => {
        const socket = connect(server?.port ?? 0, '127.0.0.1')
        const query = new URLSearchParams({ ...params, module: action.module, action: action.action, format })
        socket.on('error', () => undefined)
        const begun = new Promise(done => socket.once('data', done))
        socket.write(`GET /api/?${query} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${holders[at]}\r\n\r\n`)
        expect(String(await begun)).toStartWith('HTTP/1.1 200 ')
        return socket
      }),
    )
    for (const socket of sockets) socket.destroy()
  }
  await until(() => kinds().length === before + 2 * calls.length)
  // Short lists were sent completely before their clients left.
  const odd = kinds().filter((kind, at) => at >= before && kind !== 'gone' && kind !== 'ok')
  expect(odd).toEqual([])
  await until(() => server?.pendingRequests === 0)
  await expectNothingHeld()
  for (const [format, texts] of whole) expect(await readAll(format)).toEqual(texts)
})

test.skipIf(elasticsearchUrl() === undefined)(
  'readers in Elasticsearch that leave release the points in time of their lists',
  async () => {
    const target = openTestElastic()
    await fillFromRecording(target.store, { to: HEIGHT })
    const proxy = await openProxy(target.url, () => pass)
    const pits = (method: string): number =>
      proxy.asked.filter(asked => asked.method === method && asked.path.includes('/_pit')).length
    const { ask: asking, key } = serviceOn(target.reopen({ url: proxy.url }), { maxExports: calls.length })
    const stateful = calls.find(({ action }) => (action.source?.state.length ?? 0) > 0) as Call
    const { body } = await ask({ ask: asking, key }, stateful, { format: 'ndjson' })
    const reader = body?.getReader()
    await reader?.read()
    expect(pits('POST')).toBeGreaterThan(0)
    await reader?.cancel()
    await until(() => pits('POST') === pits('DELETE'))
    await proxy.close()
    await target.destroy()
  },
)
