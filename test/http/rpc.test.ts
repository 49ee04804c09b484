import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rpcMethods } from '#http/rpc-methods.ts'
import { createNode } from '#node/archive-node.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { type Replay, serveReplay } from '#test/replay/serve.ts'
import { patientClock } from '#test/support/clocks/patient-clock.ts'
import { recording, rpcCalls } from '#test/support/nodes/recording.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'

/** The gateway never reads the store. */
const noStore = { name: 'none' } as unknown as Store

let replay: Replay
let node: Node
let service: Service

beforeAll(async () => {
  replay = await serveReplay({ recording: await recording() })
  node = createNode({ urls: [replay.url], clock: patientClock })
  service = serviceOn(noStore, { node })
})
afterAll(async () => {
  node.close()
  await replay.stop()
})

const names = new Set(rpcMethods.map(({ name }) => name))

test('rpc: every recorded GET of a listed method is answered byte for byte', async () => {
  const calls = (await rpcCalls()).filter(
    ({ method, path }) => method === 'GET' && names.has(path.split('/')[1] ?? '') && path !== '/getNodeInfo/',
  )
  expect(new Set(calls.map(({ path }) => path.split('/')[1])).size).toBe(rpcMethods.length)
  const refused: string[] = []
  for (const { path, status, content_type, text } of calls) {
    const response = await service.ask(`/rpc${path}?apikey=${service.key}`)
    const body = await response.text()
    // The service refuses invalid names itself. The node refuses them as well.
    if (response.headers.get('content-type') === 'application/json; charset=utf-8') {
      expect([path, status]).toEqual([path, 400])
      expect([400, 404]).toContain(response.status)
      refused.push(path)
    } else
      expect([path, response.status, response.headers.get('content-type'), body]).toEqual([
        path,
        status,
        content_type,
        text,
      ])
  }
  // Invalid values that the recorder sent: no hash, no number, no flag, a path segment too few or too many.
  expect(refused.length).toBe(19)
})

test('rpc: the node gets only the path', async () => {
  const seen: string[] = []
  const spy: Node = {
    ...node,
    get: async path => {
      seen.push(path)
      return {
        status: 418,
        contentType: 'text/x-odd',
        body: new Uint8Array([0, 255, 10]),
        reaches: () => true,
        refreshHeight: async () => undefined,
        isFirst: true,
        isUsable: () => true,
        release: () => undefined,
      }
    },
  }
  const { ask, key } = serviceOn(noStore, { node: spy })
  const response = await ask(`/rpc/getNodeInfo?apikey=${key}&_=1&lang=zh`, {
    headers: { Cookie: 'a=b', 'X-API-Key': key },
  })
  expect(seen).toEqual(['/getNodeInfo'])
  expect([response.status, response.headers.get('content-type'), [...(await response.bytes())]]).toEqual([
    418,
    'text/plain; charset=utf-8',
    [0, 255, 10],
  ])
  for (const path of [
    'getNodeInfo/',
    'getNodeInfo%2f..',
    'nosuch',
    'getAccount/%2e%2e%2f/true',
    'getAccount/../true',
    'getNodeInfo?x=1&',
  ])
    expect((await ask(`/rpc/${path}${path.includes('?') ? '' : '?'}apikey=${key}`)).status).toBeOneOf([400, 404])
  expect(seen).toEqual(['/getNodeInfo'])
})

test('rpc: POST is 405, also where GET is 503, and HEAD is like GET', async () => {
  for (const name of ['sendTx', 'execTx', 'subscribe']) {
    const path = `/rpc/${name}?apikey=${service.key}`
    const get = await service.ask(path)
    expect([get.status, get.headers.get('retry-after'), await get.json()]).toMatchObject([
      503,
      '3600',
      { code: 5030, message: `Method ${name} is temporarily unavailable.`, data: {} },
    ])
    expect((await service.ask(path, { method: 'POST', body: '{}' })).status).toBe(405)
  }
  const path = `/rpc/getChainInfo?apikey=${service.key}`
  const head = await service.ask(path, { method: 'HEAD' })
  const length = (await (await service.ask(path)).bytes()).length
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(length), ''])
})

test('rpc: a service without a node is 503', async () => {
  const { ask, key } = serviceOn(noStore)
  const response = await ask(`/rpc/getNodeInfo?apikey=${key}`)
  expect([response.status, await response.json()]).toMatchObject([
    503,
    { code: 5030, message: 'This service is not connected to a node.' },
  ])
})

test('rpc: an unreachable node is 503 without its address', async () => {
  const gone = createNode({ urls: ['http://127.0.0.1:1'] })
  const { ask, key } = serviceOn(noStore, { node: gone })
  const response = await ask(`/rpc/getNodeInfo?apikey=${key}`)
  expect([response.status, await response.json()]).toMatchObject([
    503,
    { code: 5030, message: 'Temporarily unavailable; try again later.' },
  ])
  gone.close()
})
