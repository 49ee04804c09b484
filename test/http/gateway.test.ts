import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:net'
import { createNode } from '#node/archive-node.ts'
import type { Store } from '#store/port.ts'
import { patientClock } from '#test/support/clocks/patient-clock.ts'
import { startFaultyNode } from '#test/support/nodes/faulty-node.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'

/** The gateway never reads the store. */
const noStore = { name: 'none' } as unknown as Store

/** A node on a raw socket, for answers that no HTTP library would send. */
let answer = ''
let server: Server
let service: Service
let url: string
beforeAll(async () => {
  server = createServer(socket => {
    socket.on('error', () => undefined)
    socket.on('data', () => socket.end(answer))
  })
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The node has no port.')
  service = serviceOn(noStore, {
    node: createNode({ urls: [`http://127.0.0.1:${address.port}`], clock: patientClock }),
  })
  service.app.listen({ hostname: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${service.app.server?.port}`
})
afterAll(async () => {
  await service.app.stop(true)
  server.close()
})

const ask = (): Promise<Response> => fetch(`${url}/rpc/getNodeInfo?apikey=${service.key}`, { redirect: 'manual' })

test.each(['600 X', '999 X', '099 X', '000 X', '206 Partial Content', '304 Not Modified'])(
  'gateway: a node that answers %p is unavailable',
  async status => {
    const body = status.startsWith('304') ? '' : 'Content-Length: 2\r\n\r\nhi'
    answer = `HTTP/1.1 ${status}\r\n${body === '' ? '\r\n' : body}`
    const response = await ask()
    expect([response.status, await response.json()]).toMatchObject([503, { code: 5030, data: {} }])
  },
)

test.each([
  ['200 OK', 'hi'],
  ['418 Teapot', 'hi'],
  ['204 Nothing', ''],
  ['500 Broken', 'hi'],
])('gateway: %p without a content type is passed on as plain text', async (status, body) => {
  answer = `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const response = await ask()
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    Number(status.slice(0, 3)),
    'text/plain; charset=utf-8',
    body,
  ])
})

test.each([
  ['200 OK', 'text/html'],
  ['200 OK', 'image/svg+xml'],
  ['404 Not Found', 'text/html; charset=utf-8'],
  ['418 Teapot', 'application/xhtml+xml'],
  ['500 Broken', 'text/javascript'],
])('gateway: %s as %s is no document of this origin', async (status, type) => {
  const body = '<script>alert(1)</script>'
  answer = `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const { headers } = await ask()
  expect([
    headers.get('content-type'),
    headers.get('content-security-policy'),
    headers.get('x-content-type-options'),
  ]).toEqual(['text/plain; charset=utf-8', "default-src 'none'; sandbox", 'nosniff'])
})

test('gateway: a redirect is passed on without its target, and not followed', async () => {
  await using elsewhere = await startFaultyNode()
  answer = `HTTP/1.1 302 Found\r\nLocation: ${elsewhere.url}/getNodeInfo\r\nContent-Length: 0\r\n\r\n`
  const response = await ask()
  expect([response.status, response.headers.get('location'), elsewhere.asked]).toEqual([302, null, []])
})

const MIB = 1024 * 1024

test('gateway: the memory of all answers is limited, and answers beyond it are refused', async () => {
  await using node = await startFaultyNode(({ path }) =>
    path === '/getRAMInfo' ? new Response(new Uint8Array(4 * MIB)) : undefined,
  )
  const large = `/rpc/getRAMInfo?apikey=${service.key}`
  const small = `/rpc/getNodeInfo?apikey=${service.key}`
  const { ask, key } = serviceOn(noStore, {
    node: createNode({ urls: [node.url], maxHeldBytes: 10 * MIB, clock: patientClock }),
  })
  const get = (path: string, init?: RequestInit) => ask(path.replace(service.key, key), init)
  // Two clients that do not read their answers.
  const unread = [await get(large), await get(large)]
  expect(unread.map(({ status }) => status)).toEqual([200, 200])
  expect([(await get(large)).status, (await get(small)).status]).toEqual([503, 200])
  // One client disconnects and one reads at last. Memory for an unread answer is released as well.
  await unread[0]?.body?.cancel()
  expect((await get(large, { method: 'HEAD' })).status).toBe(200)
  expect((await unread[1]?.bytes())?.length).toBe(4 * MIB)
  for (let times = 0; times < 5; times++) expect((await (await get(large)).bytes()).length).toBe(4 * MIB)
})

test('gateway: a large answer arrives complete through a socket', async () => {
  const bytes = new Uint8Array(3 * MIB).map((_, at) => at % 251)
  await using node = await startFaultyNode(() => new Response(bytes, { headers: { 'content-type': 'x/y' } }))
  const { app, key } = serviceOn(noStore, { node: createNode({ urls: [node.url], clock: patientClock }) })
  app.listen({ hostname: '127.0.0.1', port: 0 })
  const response = await fetch(`http://127.0.0.1:${app.server?.port}/rpc/getNodeInfo?apikey=${key}`)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(Bun.deepEquals(await response.bytes(), bytes)).toBe(true)
  await app.stop(true)
})
