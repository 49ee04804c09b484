import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:net'
import { createHttpCounts } from '#http/counts.ts'
import { rpcMethods } from '#http/rpc-methods.ts'
import { createNode } from '#node/archive-node.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { serveReplay } from '#test/replay/serve.ts'
import { patientClock } from '#test/support/clocks/patient-clock.ts'
import { startFaultyNode } from '#test/support/nodes/faulty-node.ts'
import { hangs, OURS, pair, refuses } from '#test/support/nodes/pair.ts'
import { recording, rpcCalls } from '#test/support/nodes/recording.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { until } from '#test/support/wait.ts'

/** The gateway never reads the store. */
const noStore = { name: 'none' } as unknown as Store

function openGateway(node: Node | undefined, over: Parameters<typeof serviceOn>[1] = {}) {
  const service = serviceOn(noStore, { ...(node && { node }), ...over })
  return { ...service, get: (path: string, init?: RequestInit) => service.get(`/rpc${path}`, {}, init) }
}

const readAnswer = async (response: Response) => [response.status, await response.json()]

test('gateway: every recorded GET of a listed method is answered byte for byte', async () => {
  await using replay = await serveReplay({ recording: await recording() })
  const node = createNode({ urls: [replay.url], clock: patientClock })
  const { get } = openGateway(node)
  const names = new Set(rpcMethods.map(({ name }) => name))
  const calls = (await rpcCalls()).filter(
    ({ method, path }) => method === 'GET' && names.has(path.split('/')[1] ?? '') && path !== '/getNodeInfo/',
  )
  expect(new Set(calls.map(({ path }) => path.split('/')[1])).size).toBe(rpcMethods.length)
  const refused: string[] = []
  for (const { path, status, content_type, text } of calls) {
    const response = await get(path)
    const type = response.headers.get('content-type')
    const body = await response.text()
    // The service refuses invalid names itself. The node refuses them as well.
    if (type === 'application/json; charset=utf-8') {
      expect([path, status]).toEqual([path, 400])
      expect([400, 404]).toContain(response.status)
      refused.push(path)
    } else expect([path, response.status, type, body]).toEqual([path, status, content_type, text])
  }
  // Invalid values that the recorder sent: no hash, no number, no flag, a path segment too few or too many.
  expect(refused.length).toBe(19)
  const head = await get('/getChainInfo', { method: 'HEAD' })
  const length = (await (await get('/getChainInfo')).bytes()).length
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(length), ''])
  node.close()
})

test('gateway: the node gets only the path', async () => {
  await using node = await startFaultyNode(
    () => new Response(new Uint8Array([0, 255, 10]), { status: 418, headers: { 'content-type': 'text/x-odd' } }),
  )
  const { get, key, ask } = openGateway(createNode({ urls: [node.url], clock: patientClock }))
  const response = await ask('/rpc/getNodeInfo?_=1&lang=zh', { headers: { Cookie: 'a=b', 'X-API-Key': key } })
  expect([response.status, response.headers.get('content-type'), [...(await response.bytes())]]).toEqual([
    418,
    'text/plain; charset=utf-8',
    [0, 255, 10],
  ])
  const odd = ['getNodeInfo/', 'getNodeInfo%2f..', 'getAccount/%2e%2e%2f/true', 'getAccount/../true', 'getNodeInfo?x=1']
  for (const path of odd) expect((await get(`/${path}`)).status).toBeOneOf([400, 404])
  expect(node.asked.map(({ path }) => path)).toEqual(['/getNodeInfo'])
})

test('gateway: a service without a node, or whose node is out of reach, is 503 without an address', async () => {
  const gone = createNode({ urls: ['http://127.0.0.1:1'] })
  for (const [node, message] of [
    [undefined, 'This service is not connected to a node.'],
    [gone, 'Temporarily unavailable; try again later.'],
  ] as const)
    expect(await readAnswer(await openGateway(node).get('/getNodeInfo'))).toMatchObject([503, { message }])
  gone.close()
})

/** A node on a raw socket, for answers that no HTTP library would send. */
let answer = ''
let server: Server
let service: ReturnType<typeof openGateway>
beforeAll(async () => {
  server = createServer(socket => {
    socket.on('error', () => undefined)
    socket.on('data', () => socket.end(answer))
  })
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as { readonly port: number }
  service = openGateway(createNode({ urls: [`http://127.0.0.1:${port}`], clock: patientClock }))
  service.app.listen({ hostname: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await service.app.stop(true)
  server.close()
})

const ask = (): Promise<Response> =>
  fetch(`http://127.0.0.1:${service.app.server?.port}/rpc/getNodeInfo?apikey=${service.key}`, { redirect: 'manual' })

test.each(['600 X', '999 X', '099 X', '000 X', '206 Partial Content', '304 Not Modified'])(
  'gateway: a node that answers %p is unavailable',
  async status => {
    const body = status.startsWith('304') ? '\r\n' : 'Content-Length: 2\r\n\r\nhi'
    answer = `HTTP/1.1 ${status}\r\n${body}`
    expect(await readAnswer(await ask())).toMatchObject([503, { code: 5030, data: {} }])
  },
)

test.each([
  ['200 OK', '', 'hi'],
  ['418 Teapot', '', 'hi'],
  ['204 Nothing', '', ''],
  ['500 Broken', '', 'hi'],
  ['200 OK', 'image/svg+xml', '<script>alert(1)</script>'],
  ['404 Not Found', 'text/html; charset=utf-8', '<script>alert(1)</script>'],
  ['500 Broken', 'text/javascript', 'alert(1)'],
])('gateway: %p as %p is passed on as plain text, and no document of this origin', async (status, type, body) => {
  const own = type === '' ? '' : `Content-Type: ${type}\r\n`
  answer = `HTTP/1.1 ${status}\r\n${own}Content-Length: ${body.length}\r\n\r\n${body}`
  const response = await ask()
  expect([response.status, await response.text()]).toEqual([Number(status.slice(0, 3)), body])
  expect(response.headers.toJSON()).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  })
})

test('gateway: a redirect is passed on without its target, and not followed', async () => {
  await using elsewhere = await startFaultyNode()
  answer = `HTTP/1.1 302 Found\r\nLocation: ${elsewhere.url}/getNodeInfo\r\nContent-Length: 0\r\n\r\n`
  const response = await ask()
  expect([response.status, response.headers.get('location'), elsewhere.asked]).toEqual([302, null, []])
})

const MIB = 1024 * 1024

test('gateway: the memory of all answers is limited, and answers beyond it are refused', async () => {
  const bytes = new Uint8Array(4 * MIB).map((_, at) => at % 251)
  await using node = await startFaultyNode(({ path }) => (path === '/getRAMInfo' ? new Response(bytes) : undefined))
  const { get } = openGateway(createNode({ urls: [node.url], maxHeldBytes: 10 * MIB, clock: patientClock }))
  const [large, small] = ['/getRAMInfo', '/getNodeInfo']
  // Two clients that do not read their answers.
  const unread = [await get(large), await get(large)]
  expect(unread.map(({ status }) => status)).toEqual([200, 200])
  expect([(await get(large)).status, (await get(small)).status]).toEqual([503, 200])
  // One client disconnects and one reads at last. Memory for an unread answer is released as well.
  await unread[0]?.body?.cancel()
  expect((await get(large, { method: 'HEAD' })).status).toBe(200)
  expect((await unread[1]?.bytes())?.length).toBe(4 * MIB)
  for (let times = 0; times < 5; times++) expect(Bun.deepEquals(await (await get(large)).bytes(), bytes)).toBe(true)
})

/** The gateway with two watched nodes. The faulty one is listed first and has the higher block. */
async function watchNodes() {
  const nodes = await pair({ wellTo: 4_840 })
  await nodes.node.watch(async () => OURS)
  const sources: string[] = []
  const own = createHttpCounts()
  const gatewayAnswers = { ...own.gatewayAnswers, add: (_: number, source = '') => void sources.push(source) }
  const { get } = openGateway(nodes.node, { clock: nodes.clock, counts: { ...own, gatewayAnswers } })
  return {
    ...nodes,
    sources,
    ask: async (path: string): Promise<readonly [status: number, text: string]> => {
      const response = await get(path)
      return [response.status, await response.text()]
    },
    /** Number of requests to each node for a path. */
    calls: (path: string) => [nodes.sick, nodes.well].map(({ asked }) => asked.filter(one => one.path === path).length),
    truth: async ({ url }: typeof nodes.sick, path: string) => (await fetch(`${url}${path}`)).text(),
    [Symbol.asyncDispose]: nodes[Symbol.asyncDispose],
  }
}

const ACCOUNT = '/getAccount/admin/true'

test('gateway: equal requests of a crowd are one call to the node, and each reader gets its bytes', async () => {
  await using service = await watchNodes()
  const truth = await service.truth(service.sick, ACCOUNT)
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, at) => {
      // Some request other paths meanwhile.
      const own = at % 10 === 0 ? `/getBlockByNumber/${at}/false` : ACCOUNT
      return { own, answer: await service.ask(own) }
    }),
  )
  // A key has eight places and sixteen for waiting requests. Further requests are refused at once.
  for (const { own, answer } of answers)
    if (answer[0] !== 503)
      expect(answer).toEqual([200, own === ACCOUNT ? truth : await service.truth(service.sick, own)])
  // One call for the crowd, and one by the test for comparison.
  expect(service.calls(ACCOUNT)).toEqual([2, 0])
  expect(service.sources).toContain('joined')
})

test('gateway: when the node hangs, the next one answers the whole crowd with one call', async () => {
  await using service = await watchNodes()
  const truth = await service.truth(service.well, ACCOUNT)
  service.become(hangs)
  const asked = Promise.all(Array.from({ length: 8 }, () => service.ask(ACCOUNT)))
  // A request starts after the current turn of the event loop.
  await until(() => service.calls(ACCOUNT)[0] !== 0)
  await service.clock.awaited(700)
  await service.clock.pass(700)
  expect(await asked).toEqual(Array(8).fill([200, truth]))
  expect(service.calls(ACCOUNT)).toEqual([1, 2])
  expect(service.sources.toSorted()).toEqual([...Array(7).fill('joined'), 'other_node'])
})

test('gateway: cached answers are dropped when nodes die, return or change their chain', async () => {
  await using service = await watchNodes()
  const path = '/getChainInfo'
  const high = await service.truth(service.sick, path)
  const low = await service.truth(service.well, path)
  expect(await service.ask(path)).toEqual([200, high])
  // No probe has noticed that the node died. A cached answer is at most half a second old.
  service.become(refuses)
  await service.clock.pass(500)
  expect(await service.ask(path)).toEqual([200, low])
  await service.clock.awaited(500, 2)
  await service.clock.pass(500)
  await service.clock.awaited(1_000, 2)
  service.become(() => undefined)
  // After a failed request the node is used only as a fallback for three seconds.
  for (let looks = 0; looks < 3; looks += 1) await service.look()
  expect(await service.ask(path)).toEqual([200, high])
  // A cached answer is dropped as soon as its node is known to be of another chain.
  const block = '/getBlockByNumber/4850/true'
  const text = await service.truth(service.sick, block)
  expect(await service.ask(block)).toEqual([200, text])
  service.become(async ({ path }, truth) =>
    path === '/getChainInfo' ? new Response((await truth()).replace('"chain_id":1020', '"chain_id":1024')) : undefined,
  )
  await service.look()
  expect(await service.ask(path)).toEqual([200, low])
  expect((await service.ask(block))[0]).toBe(400)
})
