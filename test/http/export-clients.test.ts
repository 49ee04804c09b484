import { afterEach, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { createKey } from '#keys/key.ts'
import type { Store, View } from '#store/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { openProxy, pass } from '#test/support/nodes/faulty-proxy.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'
import { fillFromRecording, loadedStore } from '#test/support/stores/loaded.ts'
import { until } from '#test/support/wait.ts'
import { SECOND_MS } from '#time/clock.ts'
import { type Call, chooseCalls, lists, openExport } from './list-calls.ts'

/**
 * Clients of exports that stall, leave, or open too many, and exports that break off. The service must release all
 * resources of readers that stall or leave (views and points in time of the store, running reads, places, timers,
 * connections), and other readers continue.
 */

const HISTORY = '/api/account/get-account-tx?account=busyhub&format=ndjson'
const HOLDERS = '/api/token/get-token-holder?token=iost&format=csv'
const STALL_MS = 30_000
const WIDE = { perSecond: 1_000_000, perDay: 1_000_000_000 }

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
  const load = (path: string, init: RequestInit = {}, own = service.key) =>
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
  const readRefusal = async (response: Response) => {
    const { message } = (await response.json()) as { readonly message: string }
    return [response.status, response.headers.get('retry-after'), message]
  }
  return { ...service, kinds, load, open, readRefusal }
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
  const { get } = await serving({ clock, maxExports: 1 })
  const collect = () => get(HISTORY, { connection: 'close' })
  const { headers, body } = await collect()
  expect((await new Response(body).bytes()).length).toBe(Number(headers.get('content-length')))
  expect((await collect()).status).toBe(503)
  await clock.pass(SECOND_MS)
  expect((await collect()).status).toBe(200)
})

test('exports: a third export of a key is 429, and 503 when all places are taken', async () => {
  const other = createKey('other', { perSecond: 100, perDay: 1_000_000 }, { now: Date.now() })
  const { open, load, kinds, readRefusal } = await serving({ maxExports: 3, keys: [other.stored] })
  const [first] = [await open(), await open()]
  const limited = 'This API key is limited to 2 exports at once; wait until one has ended.'
  expect(await readRefusal(await load(HISTORY))).toEqual([429, '10', limited])
  expect((await open(HISTORY, other.key)).status).toBe(200)
  const busy = 'The service is busy: too many exports are being sent.'
  expect(await readRefusal(await load(HISTORY, {}, other.key))).toEqual([503, '10', busy])
  first?.socket.destroy()
  await until(() => kinds().includes('gone'))
  expect((await open(HISTORY, other.key)).status).toBe(200)
})

test('exports: HEAD has the headers and takes no place', async () => {
  const { load, kinds } = await serving()
  for (let times = 1; times <= 5; times += 1) {
    const { status, headers } = await load(HISTORY, { method: 'HEAD' })
    expect([status, headers.get('x-total-count'), headers.get('content-length')]).toEqual([200, '18261', null])
    await until(() => kinds().length === times)
  }
})

test('exports: each begun thousand of rows counts as a request of the day', async () => {
  const { load, readRefusal } = await serving({ plan: { perSecond: 1_000, perDay: 39 } })
  const left = async () => {
    const response = await load('/api/base/get-wealth-list?size=1')
    await response.text()
    return [response.status, response.headers.get('ratelimit-remaining')]
  }
  expect(await left()).toEqual([200, '38'])
  expect((await (await load(HISTORY)).text()).split('\n').length).toBe(18_261 + 2)
  expect(await left()).toEqual([200, '18'])
  const message = 'This API key is limited to 39 requests per day; 17 are left today, and 18 more are needed.'
  expect(await readRefusal(await load(HISTORY))).toEqual([429, expect.anything(), message])
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
    const { load, kinds } = await serving({}, await troubled(from, trouble))
    const whole = async () => (await load(path, { headers: { 'accept-encoding': encoding } })).text()
    await expect(whole()).rejects.toThrow()
    await until(() => kinds().length === 1)
    expect(kinds()).toEqual([kind])
  }
})

/** Open views and running reads of a store. */
function countHoldings(store: Store) {
  const holding = { views: 0, reads: 0 }
  const read: Store['read'] = async (work, options) => {
    holding.reads += 1
    return store.read(work, options).finally(() => holding.reads--)
  }
  const hold: Store['hold'] = async options => {
    const held = await store.hold(options)
    holding.views += 1
    let isOpen = true
    const close = (): void => {
      if (isOpen) holding.views -= 1
      isOpen = false
      held.close()
    }
    return { ...held, close }
  }
  return { holding, store: { ...store, read, hold } }
}

/** Whether an export of the list holds a view of the store. */
const isHeld = ({ action }: Call): boolean => (action.source?.state.length ?? 0) > 0

/** Lists of each kind: of rows, of state, of whole rankings. In long runs all lists are read. */
const FEW = ['get-account-tx', 'get-token-holder', 'get-wealth-list', 'get-block-tx', 'get-balance-history']

const getReader = ({ body }: Response) => (body as ReadableStream<Uint8Array>).getReader()

test.each([
  ['take nothing', 'stalled', false],
  ['take a part and no more', 'stalled', true],
  ['take a part and leave', 'gone', true],
])('exports: readers of lists that %s release what they held, and others continue', async (_, kind, reads) => {
  const clock = handClock(Date.UTC(2026, 0, 1))
  const all = await chooseCalls(await loadedStore())
  expect(all.map(({ action }) => action)).toEqual(lists)
  const calls = all.filter(({ action }) => SOAK || FEW.includes(action.action))
  const { store, holding } = countHoldings(await loadedStore())
  const holders = calls.map((_, at) => createKey(`holder ${at}`, WIDE, { now: clock.now() }))
  // Room for all lists at once and one more reader.
  const over = { clock, keys: holders.map(({ stored }) => stored), maxExports: calls.length + 1 }
  const { get, kinds } = await serving(over, store)
  const readAll = async (format: string): Promise<readonly string[]> => {
    const texts: string[] = []
    for (const call of calls) texts.push(await (await openExport({ get }, call, { format })).text())
    return texts
  }
  for (const format of ['ndjson', 'csv']) {
    const whole = await readAll(format)
    const readers: ReturnType<typeof getReader>[] = []
    for (const [at, call] of calls.entries()) {
      const response = await openExport({ get }, call, { format, key: holders[at]?.key })
      expect([call.name, response.status]).toEqual([call.name, 200])
      const reader = getReader(response)
      if (reads) await reader.read()
      readers.push(reader)
    }
    expect(await readAll(format)).toEqual(whole)
    expect(holding.views).toBe(calls.filter(isHeld).length)
    const before = kinds().length
    if (kind === 'stalled') await clock.pass(STALL_MS)
    else for (const reader of readers) await reader.cancel()
    await until(() => kinds().length === before + readers.length)
    expect(new Set(kinds().slice(before))).toEqual(new Set([kind]))
    if (kind === 'stalled') for (const reader of readers) await expect(reader.read()).rejects.toThrow()
    await until(() => holding.views === 0 && holding.reads === 0)
    // No timer of a departed reader is left.
    await clock.awaited(STALL_MS, 0)
  }
})

test.skipIf(elasticsearchUrl() === undefined)(
  'exports: readers in Elasticsearch that leave release the points in time of their lists',
  async () => {
    const target = openTestElastic()
    await fillFromRecording(target.store, { to: 60 })
    const proxy = await openProxy(target.url, () => pass)
    const pits = (method: string): number =>
      proxy.asked.filter(asked => asked.method === method && asked.path.includes('/_pit')).length
    const { get } = serviceOn(target.reopen({ url: proxy.url }))
    const reader = getReader(await get(HOLDERS))
    await reader.read()
    expect(pits('POST')).toBeGreaterThan(0)
    await reader.cancel()
    await until(() => pits('POST') === pits('DELETE'))
    await proxy.close()
    await target.destroy()
  },
)
