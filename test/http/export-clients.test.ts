import { afterEach, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { createKey } from '#keys/key.ts'
import type { Store, View } from '#store/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { until } from '#test/support/wait.ts'
import { SECOND_MS } from '#time/clock.ts'

/** Clients of exports that stall, leave, or open too many, and exports that break off. */

const HISTORY = '/api/account/get-account-tx?account=busyhub&format=ndjson'
const HOLDERS = '/api/token/get-token-holder?token=iost&format=csv'
const STALL_MS = 30_000

let running: Service[] = []
let sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  for (const { app } of running) await app.stop(true)
  running = []
  sockets = []
})

async function serving(over: Parameters<typeof serviceOn>[1] = {}, store?: Store) {
  const service = serviceOn(store ?? (await loadedStore()), { stallMs: STALL_MS, ...over })
  service.app.listen({ hostname: '127.0.0.1', port: 0 })
  running.push(service)
  const port = service.app.server?.port ?? 0
  const kinds = (): readonly unknown[] =>
    service.lines.filter(({ message }) => message === 'Answered request.').map(({ fields }) => fields['kind'])
  const get = (path: string, init: RequestInit = {}, own = service.key) =>
    fetch(`http://127.0.0.1:${port}${path}&apikey=${own}`, init)
  /** A client that reads only the beginning of an answer. */
  const open = async (path = HISTORY, own = service.key) => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    const begun = Promise.withResolvers<string>()
    const closed = new Promise<void>(done => socket.once('close', () => done()))
    socket.on('error', () => undefined)
    socket.once('data', bytes => {
      socket.pause()
      begun.resolve(bytes.toString('latin1'))
    })
    socket.write(`GET ${path}&apikey=${own} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const status = Number((await begun.promise).split(' ')[1])
    return { socket, closed, status }
  }
  const refusalOf = async (response: Response) => {
    const { message } = (await response.json()) as { readonly message: string }
    return [response.status, response.headers.get('retry-after'), message]
  }
  return { ...service, kinds, get, open, refusalOf }
}

test('exports: a client that reads nothing is cut off without the end of the list', async () => {
  const clock = handClock(Date.UTC(2026, 0, 1))
  const { open, kinds } = await serving({ clock })
  const client = await open()
  await clock.awaited(STALL_MS)
  let text = ''
  client.socket.on('data', bytes => {
    text += bytes.toString('latin1')
  })
  client.socket.pause()
  await clock.pass(STALL_MS)
  expect(kinds()).toEqual(['stalled'])
  client.socket.resume()
  await client.closed
  expect(text).not.toContain('"complete":true')
  expect(text.endsWith('0\r\n\r\n')).toBe(false)
})

test('exports: an answer of known length keeps its place until it was sent', async () => {
  const clock = handClock(Date.UTC(2026, 0, 1))
  const { ask, key } = await serving({ clock, maxExports: 1 })
  const collect = () => ask(`${HISTORY}&apikey=${key}`, { headers: { connection: 'close' } })
  const { headers, body } = await collect()
  expect((await new Response(body).bytes()).length).toBe(Number(headers.get('content-length')))
  expect((await collect()).status).toBe(503)
  await clock.pass(SECOND_MS)
  expect((await collect()).status).toBe(200)
})

test('exports: a third export of a key is 429, and 503 when all places are taken', async () => {
  const other = createKey('other', { perSecond: 100, perDay: 1_000_000 }, { now: Date.now() })
  const { open, get, kinds, refusalOf } = await serving({ maxExports: 3, keys: [other.stored] })
  const [first] = [await open(), await open()]
  expect(await refusalOf(await get(HISTORY))).toEqual([
    ...[429, '10', 'This API key is limited to 2 exports at once; wait until one has ended.'],
  ])
  expect((await open(HISTORY, other.key)).status).toBe(200)
  expect(await refusalOf(await get(HISTORY, {}, other.key))).toEqual([
    ...[503, '10', 'The service is busy: too many exports are being sent.'],
  ])
  first?.socket.destroy()
  await until(() => kinds().includes('gone'))
  expect((await open(HISTORY, other.key)).status).toBe(200)
})

test('exports: HEAD has the headers and takes no place', async () => {
  const { get, kinds } = await serving()
  for (let times = 1; times <= 5; times += 1) {
    const { status, headers } = await get(HISTORY, { method: 'HEAD' })
    expect([status, headers.get('x-total-count'), headers.get('content-length')]).toEqual([200, '18261', null])
    await until(() => kinds().length === times)
  }
})

test('exports: each begun thousand of rows counts as a request of the day', async () => {
  const { get, refusalOf } = await serving({ plan: { perSecond: 1_000, perDay: 39 } })
  const left = async () => {
    const response = await get('/api/base/get-wealth-list?size=1')
    await response.text()
    return [response.status, response.headers.get('ratelimit-remaining')]
  }
  expect(await left()).toEqual([200, '38'])
  expect((await (await get(HISTORY)).text()).split('\n').length).toBe(18_261 + 2)
  expect(await left()).toEqual([200, '18'])
  const [status, , message] = await refusalOf(await get(HISTORY))
  expect([status, message]).toEqual([
    ...[429, 'This API key is limited to 39 requests per day; 17 are left today, and 18 more are needed.'],
  ])
  // Refused requests were not counted.
  expect(await left()).toEqual([200, '17'])
})

/** A store whose views fail or change at a given read. */
async function troubled(from: number, trouble: (view: View) => Partial<View>): Promise<Store> {
  const store = await loadedStore()
  let reads = 0
  const changed = (view: View): View => (++reads < from ? view : { ...view, ...trouble(view) })
  return {
    ...store,
    read: (work, options) => store.read(view => work(changed(view)), options),
    hold: async options => {
      const held = await store.hold(options)
      return { ...held, view: { ...held.view, page: (...page) => changed(held.view).page(...page) } }
    },
  }
}

const takenBack = (view: View): Partial<View> => ({
  get: async (index, id) => {
    const doc = await view.get(index, id)
    return index.name === 'blocks' && doc !== undefined ? { ...doc, hash: 'another' } : doc
  },
})
const failing = (): Partial<View> => ({ records: () => Promise.reject(new Error('of a test')) })
const missing = (view: View): Partial<View> => ({ page: async (...page) => (await view.page(...page)).slice(1) })

test.each([
  ['its blocks are taken back', 6, takenBack, HISTORY, 'unavailable'],
  ['the store fails', 6, failing, HISTORY, 'defect'],
  ['the store fails, as CSV', 6, failing, HISTORY.replace('ndjson', 'csv'), 'defect'],
  ['rows are missing', 2, missing, HOLDERS, 'damaged'],
])('exports: an export breaks off when %s, plain and compressed', async (_name, from, trouble, path, kind) => {
  for (const encoding of ['identity', 'gzip']) {
    const { get, kinds } = await serving({}, await troubled(from, trouble))
    const whole = async () => (await get(path, { headers: { 'accept-encoding': encoding } })).text()
    await expect(whole()).rejects.toThrow()
    await until(() => kinds().length === 1)
    expect(kinds()).toEqual([kind])
  }
})
