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

async function serving(over: Parameters<typeof serviceOn>[1] = {}, store?: Store): Promise<Service> {
  const service = serviceOn(store ?? (await loadedStore()), { stallMs: STALL_MS, ...over })
  service.app.listen({ hostname: '127.0.0.1', port: 0 })
  running.push(service)
  return service
}
const urlOf = ({ app, key }: Service, path: string, own = key): string =>
  `http://127.0.0.1:${app.server?.port}${path}&apikey=${own}`

/** A client that reads only the beginning of an answer. */
async function opening(service: Service, path = HISTORY, own = service.key) {
  const socket = connect(service.app.server?.port ?? 0, '127.0.0.1')
  sockets.push(socket)
  const begun = Promise.withResolvers<string>()
  const closed = new Promise<void>(done => socket.once('close', () => done()))
  socket.on('error', () => undefined)
  socket.once('data', bytes => {
    socket.pause()
    begun.resolve(bytes.toString('latin1'))
  })
  socket.write(`GET ${path}&apikey=${own} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  const head = await begun.promise
  return { socket, closed, head, status: Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 '.length + 3)) }
}

const kindsIn = ({ lines }: Service): readonly unknown[] =>
  lines.filter(({ message }) => message === 'Answered request.').map(({ fields }) => fields['kind'])

test('exports: dozens of clients that leave release their places', async () => {
  const service = await serving()
  for (let round = 1; round <= 12; round += 1) {
    const clients = await Promise.all([opening(service), opening(service, HOLDERS)])
    expect(clients.map(({ status }) => status)).toEqual([200, 200])
    for (const { socket } of clients) socket.destroy()
    await until(() => kindsIn(service).length === round * 2)
  }
  // A short list may have been sent before its client left. The long one never is.
  const kinds = kindsIn(service)
  expect(kinds.filter(kind => kind !== 'gone' && kind !== 'ok')).toEqual([])
  expect(kinds.filter(kind => kind === 'gone').length).toBeGreaterThanOrEqual(12)
})

test('exports: a client that reads nothing is cut off without the end of the list', async () => {
  const clock = handClock(Date.UTC(2026, 0, 1))
  const service = await serving({ clock })
  const client = await opening(service)
  await clock.awaited(STALL_MS)
  let text = ''
  client.socket.on('data', bytes => {
    text += bytes.toString('latin1')
  })
  client.socket.pause()
  await clock.pass(STALL_MS)
  expect(kindsIn(service)).toEqual(['stalled'])
  client.socket.resume()
  await client.closed
  expect(text).not.toContain('"complete":true')
  expect(text.endsWith('0\r\n\r\n')).toBe(false)
})

test('exports: an answer of known length keeps its place until it was sent', async () => {
  const clock = handClock(Date.UTC(2026, 0, 1))
  const service = await serving({ clock, maxExports: 1 })
  const ask = () => service.ask(`${HISTORY}&apikey=${service.key}`, { headers: { connection: 'close' } })
  const { headers, body } = await ask()
  expect((await new Response(body).bytes()).length).toBe(Number(headers.get('content-length')))
  expect((await ask()).status).toBe(503)
  await clock.pass(SECOND_MS)
  expect((await ask()).status).toBe(200)
})

test('exports: a third export of a key is 429, and 503 when all places are taken', async () => {
  const other = createKey('other', { perSecond: 100, perDay: 1_000_000 }, { now: Date.now() })
  const service = await serving({ maxExports: 3, keys: [other.stored] })
  const [first] = [await opening(service), await opening(service)]
  const third = await fetch(urlOf(service, HISTORY))
  expect([third.status, third.headers.get('retry-after'), await third.json()]).toMatchObject([
    429,
    '10',
    { message: 'This API key is limited to 2 exports at once; wait until one has ended.' },
  ])
  expect((await opening(service, HISTORY, other.key)).status).toBe(200)
  const fourth = await fetch(urlOf(service, HISTORY, other.key))
  expect([fourth.status, fourth.headers.get('retry-after'), await fourth.json()]).toMatchObject([
    503,
    '10',
    { message: 'The service is busy: too many exports are being sent.' },
  ])
  first?.socket.destroy()
  await until(() => kindsIn(service).includes('gone'))
  expect((await opening(service, HISTORY, other.key)).status).toBe(200)
})

test('exports: HEAD has the headers and takes no place', async () => {
  const service = await serving()
  for (let times = 0; times < 5; times += 1) {
    const response = await fetch(urlOf(service, HISTORY), { method: 'HEAD' })
    const { status, headers } = response
    expect([status, headers.get('x-total-count'), headers.get('content-length')]).toEqual([200, '18261', null])
    await until(() => kindsIn(service).length === times + 1)
  }
})

test('exports: each begun thousand of rows counts as a request of the day', async () => {
  const service = await serving({ plan: { perSecond: 1_000, perDay: 39 } })
  const left = async () => {
    const response = await fetch(urlOf(service, '/api/base/get-wealth-list?size=1'))
    await response.text()
    return [response.status, response.headers.get('ratelimit-remaining')]
  }
  expect(await left()).toEqual([200, '38'])
  expect((await (await fetch(urlOf(service, HISTORY))).text()).split('\n').length).toBe(18_261 + 2)
  expect(await left()).toEqual([200, '18'])
  const refused = await fetch(urlOf(service, HISTORY))
  expect([refused.status, await refused.json()]).toMatchObject([
    429,
    {
      message: 'This API key is limited to 39 requests per day; 17 are left today, and 18 more are needed.',
    },
  ])
  // Refused requests were not counted.
  expect(await left()).toEqual([200, '17'])
})

/** A store whose views fail or change at a given read. */
async function troubled(trouble: (view: View, read: number) => View): Promise<Store> {
  const store = await loadedStore()
  let reads = 0
  const changed = (view: View): View => trouble(view, ++reads)
  return {
    ...store,
    read: (work, options) => store.read(view => work(changed(view)), options),
    hold: async options => {
      const held = await store.hold(options)
      return { ...held, view: { ...held.view, page: (...page) => changed(held.view).page(...page) } }
    },
  }
}

const takenBack = (view: View, read: number): View =>
  read < 6
    ? view
    : {
        ...view,
        get: async (index, id) => {
          const doc = await view.get(index, id)
          return index.name === 'blocks' && doc !== undefined ? { ...doc, hash: 'another' } : doc
        },
      }
const failing = (view: View, read: number): View =>
  read < 6 ? view : { ...view, records: () => Promise.reject(new Error('of a test')) }
const missing = (view: View, read: number): View =>
  read < 2 ? view : { ...view, page: async (...page) => (await view.page(...page)).slice(1) }

test.each([
  ['its blocks are taken back', takenBack, HISTORY, 'unavailable'],
  ['the store fails', failing, HISTORY, 'defect'],
  ['the store fails, as CSV', failing, HISTORY.replace('ndjson', 'csv'), 'defect'],
  ['rows are missing', missing, HOLDERS, 'damaged'],
])('exports: an export breaks off when %s, plain and compressed', async (_name, trouble, path, kind) => {
  for (const encoding of ['identity', 'gzip']) {
    const service = await serving({}, await troubled(trouble))
    const broken = async (): Promise<string> => {
      const response = await fetch(urlOf(service, path), { headers: { 'accept-encoding': encoding } })
      return `read to its end: ${(await response.text()).length}`
    }
    await expect(broken()).rejects.toThrow()
    await until(() => kindsIn(service).length === 1)
    expect(kindsIn(service)).toEqual([kind])
  }
})
