import { expect, test } from 'bun:test'
import { createNode } from '#node/archive-node.ts'
import { failureOf } from '#test/support/refusal.ts'
import { handClock } from '../support/clocks/hand-clock.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'

const down: Fault = () => new Response('', { status: 503 })
const pathsOf = (asked: readonly { readonly path: string }[]): readonly string[] => asked.map(({ path }) => path)

test('chainInfo: the height of the recorded chain is returned', async () => {
  await using faulty = await startFaultyNode()
  const hash = '8psW23ozxC4SjoXeD2DSPWBNzR3Re9a3ei9Vu1C49sQg'
  expect(await createNode({ urls: [faulty.url], clock: idleClock() }).chainInfo()).toEqual({
    chainId: 1020,
    netName: 'debugnet',
    headBlock: 4851,
    headHash: hash,
    headTime: 1795249532500320384n,
    libBlock: 4851,
    libHash: hash,
    libTime: 1795249532500320384n,
  })
})

test('chainInfo: the highest answer of several nodes is returned, and later requests go to that node', async () => {
  await using low = await startFaultyNode(undefined, 10)
  await using high = await startFaultyNode(undefined, 20)
  const node = createNode({ urls: [low.url, high.url], clock: idleClock() })
  expect((await node.chainInfo()).libBlock).toBe(20)
  expect(await node.blockHash(15)).toBe((await recordedBlocks())[15]?.block.hash ?? '')
  expect(pathsOf(low.asked)).toEqual(['/getChainInfo'])
  low.setHeight(30)
  expect((await node.chainInfo()).libBlock).toBe(30)
  await node.blockHash(25)
  expect(pathsOf(low.asked)).toEqual(['/getChainInfo', '/getChainInfo', '/getBlockByNumber/25/false'])
})

test('chainInfo: a node that is down does not hide the other one, and is tried again after its pause', async () => {
  let broken = true
  await using first = await startFaultyNode((asked, truth) => (broken ? down(asked, truth) : undefined), 30)
  await using second = await startFaultyNode(undefined, 20)
  const clock = idleClock()
  const node = createNode({ urls: [first.url, second.url], clock })
  expect((await node.chainInfo()).libBlock).toBe(20)
  broken = false
  expect((await node.chainInfo()).libBlock).toBe(20)
  await clock.sleep(10_000)
  expect((await node.chainInfo()).libBlock).toBe(30)
})

test('chainInfo: a node of another chain gets no request for blocks', async () => {
  await using ours = await startFaultyNode(undefined, 10)
  await using foreign = await startFaultyNode(
    async ({ path }, truth) =>
      path === '/getChainInfo'
        ? new Response((await truth()).replace('"chain_id":1020', '"chain_id":1024'))
        : undefined,
    20,
  )
  const node = createNode({ urls: [ours.url, foreign.url], clock: idleClock() })
  expect((await node.chainInfo()).libBlock).toBe(10)
  await node.blockHash(5)
  expect(pathsOf(foreign.asked)).toEqual(['/getChainInfo'])
  expect(pathsOf(ours.asked)).toEqual(['/getChainInfo', '/getBlockByNumber/5/false'])
})

test('chainInfo: if no node answers, the failure gives the reason of each after growing pauses', async () => {
  await using broken = await startFaultyNode(down)
  await using page = await startFaultyNode(() => new Response('<html>'))
  const clock = idleClock()
  const node = createNode({ urls: [broken.url, page.url, 'http://127.0.0.1:1'], clock })
  expect(await failureOf(node.chainInfo())).toMatchObject({
    kind: 'unavailable',
    message:
      `No node gave a usable response to getChainInfo: ${broken.url}: status 503; ` +
      `${page.url}: getChainInfo: 6 characters that are not JSON; ` +
      'http://127.0.0.1:1: no connection (ECONNREFUSED).',
  })
  expect(clock.slept.length).toBe(1)
})

test('ask: a single node is tried again after doubling pauses, five times', async () => {
  await using broken = await startFaultyNode(down)
  const clock = idleClock()
  const node = createNode({ urls: [broken.url], clock })
  await failureOf(node.contractCode('token.iost'))
  expect(clock.slept).toEqual([187.5, 375, 750, 1500])
  expect(broken.asked.length).toBe(5)
})

test('ask: another node is tried at once', async () => {
  await using broken = await startFaultyNode(down)
  await using healthy = await startFaultyNode()
  const clock = idleClock()
  const node = createNode({ urls: [broken.url, healthy.url], clock })
  expect((await node.contractCode('token.iost'))?.id).toBe('token.iost')
  expect(clock.slept).toEqual([])
})

test('ask: Retry-After is respected up to a minute', async () => {
  const answers = [
    new Response('', { status: 429, headers: { 'retry-after': '3' } }),
    new Response('', { status: 429, headers: { 'retry-after': '86400' } }),
  ]
  await using busy = await startFaultyNode(() => answers.shift())
  const clock = idleClock()
  await createNode({ urls: [busy.url], clock }).contractCode('token.iost')
  expect(clock.slept).toEqual([3000, 60_000])
})

test('contractCode: the methods of a contract are returned', async () => {
  await using faulty = await startFaultyNode()
  const node = createNode({ urls: [faulty.url], clock: idleClock() })
  const code = await node.contractCode('token.iost')
  expect({ ...code, abis: code?.abis.find(({ name }) => name === 'transfer') }).toEqual({
    id: 'token.iost',
    language: 'native',
    version: '1.0.6',
    abis: {
      name: 'transfer',
      args: ['string', 'string', 'string', 'string', 'string'],
      amount_limit: [{ token: '*', value: 'unlimited' }],
    },
  })
})

test('contractCode: a contract that no node has gives undefined, a system one is refused, and neither is requested again', async () => {
  await using faulty = await startFaultyNode()
  const node = createNode({ urls: [faulty.url], clock: idleClock() })
  expect(await node.contractCode('ContractXYZ')).toBeUndefined()
  expect(await failureOf(node.contractCode('nosuch.iost'))).toMatchObject({
    kind: 'unavailable',
    message: `${faulty.url} refuses contract nosuch.iost: contract not found (code 2).`,
  })
  expect(faulty.asked.length).toBe(2)
})

test('contractCode: an answer about another contract is requested again and never used', async () => {
  let wrong = 1
  await using faulty = await startFaultyNode(async ({ path }, truth) =>
    path.startsWith('/getContract/') && wrong-- > 0
      ? new Response((await truth()).replace('"id":"token.iost"', '"id":"token721.iost"'))
      : undefined,
  )
  const node = createNode({ urls: [faulty.url], clock: idleClock() })
  expect((await node.contractCode('token.iost'))?.id).toBe('token.iost')
  wrong = Number.POSITIVE_INFINITY
  expect(await failureOf(node.contractCode('token.iost'))).toMatchObject({
    kind: 'bad_block',
    message: `${faulty.url}: The node returned contract token721.iost for contract token.iost.`,
  })
})

test('contractCode: control characters in a node’s refusal do not reach a terminal', async () => {
  await using faulty = await startFaultyNode(
    () => new Response('{"code":2,"message":"a\\u0000b\\u001b[31m\\u009bc"}', { status: 400 }),
  )
  expect(
    (await failureOf(createNode({ urls: [faulty.url], clock: idleClock() }).contractCode('token.iost'))).message,
  ).toBe(`${faulty.url} refuses contract token.iost: a\\u{0}b\\u{1b}[31m\\u{9b}c (code 2).`)
})

test('blockHash: the result is undefined above the last block, without waiting', async () => {
  await using faulty = await startFaultyNode(undefined, 10)
  const clock = idleClock()
  const node = createNode({ urls: [faulty.url], clock })
  expect(await node.blockHash(0)).toBe('HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ')
  expect(await node.blockHash(11)).toBeUndefined()
  expect(clock.slept).toEqual([])
})

test('blockHash: the result is undefined for a block that may still change', async () => {
  await using faulty = await startFaultyNode(
    async (_, truth) => new Response((await truth()).replace('IRREVERSIBLE', 'PENDING')),
  )
  expect(await createNode({ urls: [faulty.url], clock: idleClock() }).blockHash(5)).toBeUndefined()
})

test('get: status, content type and bytes are passed on unchanged', async () => {
  const bytes = new Uint8Array([0, 255, 7])
  await using faulty = await startFaultyNode(({ path }) =>
    path === '/odd' ? new Response(bytes, { status: 503, headers: { 'content-type': 'x/y' } }) : undefined,
  )
  const node = createNode({ urls: [faulty.url], clock: idleClock() })
  const odd = await node.get('/odd')
  expect({ ...odd, body: [...odd.body] }).toMatchObject({ status: 503, contentType: 'x/y', body: [0, 255, 7] })
  const refused = await node.get('/getTxByHash/xx')
  expect({ ...refused, body: Buffer.from(refused.body).toString() }).toMatchObject({
    status: 400,
    contentType: 'text/plain; charset=utf-8',
    body: '{"code":2,"message":"tx not found"}',
  })
  expect(pathsOf(faulty.asked)).toEqual(['/odd', '/getTxByHash/xx'])
})

test('get: redirects are returned as answers', async () => {
  await using faulty = await startFaultyNode(({ path }) =>
    path === '/a' ? new Response(null, { status: 301, headers: { location: '/b' } }) : undefined,
  )
  expect((await createNode({ urls: [faulty.url], clock: idleClock() }).get('/a')).status).toBe(301)
  expect(pathsOf(faulty.asked)).toEqual(['/a'])
})

test('get: the next node is asked when one does not answer, and an answer over the size limit fails', async () => {
  await using healthy = await startFaultyNode(({ path }) =>
    path.startsWith('/large') ? new Response(new Uint8Array(1001)) : undefined,
  )
  const node = createNode({ urls: ['http://127.0.0.1:1', healthy.url], clock: idleClock(), maxRequestBytes: 1000 })
  expect((await node.get('/getRAMInfo')).status).toBe(200)
  expect(await failureOf(node.get('/large?x=1'))).toMatchObject({
    kind: 'unavailable',
    message: `No node gave a usable response to /large: http://127.0.0.1:1: no connection (ECONNREFUSED); ${healthy.url}: the response is over 1000 bytes.`,
  })
  expect((await failureOf(node.get('@other.example/'))).kind).toBe('defect')
})

test('createNode: user and password of a URL are sent as Authorization and never shown', async () => {
  await using faulty = await startFaultyNode(down)
  const url = faulty.url.replace('http://', 'http://us%40er:p%3Ass@')
  const node = createNode({ urls: [`${url}/base/`], clock: idleClock() })
  const { message } = await failureOf(node.contractCode('token.iost'))
  expect(node.name).toBe(`${faulty.url}/base`)
  expect(message).toBe(`No node gave a usable response to contract token.iost: ${faulty.url}/base: status 503.`)
  expect(faulty.asked[0]?.path).toBe('/base/getContract/token.iost/false')
  expect(faulty.asked[0]?.headers.get('authorization')).toBe(`Basic ${btoa('us@er:p:ss')}`)
})

const BAD_URLS: readonly (readonly [string, string])[] = [
  ['user:secret@host', 'A node URL must begin with http:// or https://.'],
  ['ftp://host', 'A node URL must begin with http:// or https://.'],
  ['', 'A node URL must begin with http:// or https://.'],
  ['http://u:secret@host/a?key=1', 'Node URL http://host/a has a query or fragment, which is not allowed.'],
]
test.each(BAD_URLS)('createNode: %p is not the URL of a node', (url, message) => {
  expect(() => createNode({ urls: [url] })).toThrow(message)
})

test('createNode: at least one URL is required', () => {
  expect(() => createNode({ urls: [] })).toThrow('No node URL is set.')
})

test('close: open requests end and later ones are refused', async () => {
  await using hanging = await startFaultyNode(() => new Promise<never>(() => undefined))
  const node = createNode({ urls: [hanging.url] })
  const asked = failureOf(node.chainInfo())
  node.close()
  const ended = { kind: 'deadline', message: 'The request to the node was cancelled.' }
  expect(await asked).toMatchObject(ended)
  expect(await failureOf(node.get('/getNodeInfo'))).toMatchObject(ended)
})

const MIB = 1024 * 1024

/** A server whose answers `answer` makes from the number of the request, from 1. */
function serverOf(answer: (request: number) => Response | Promise<Response>) {
  let requests = 0
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      requests += 1
      return answer(requests)
    },
  })
}

test('get: the memory of a failed answer is released when the caller leaves while another node is asked', async () => {
  const asked = Promise.withResolvers<void>()
  const failing = serverOf(request => new Response(request === 1 ? new Uint8Array(MIB) : 'failed', { status: 500 }))
  const slow = serverOf(request => {
    if (request > 1) return new Response(new Uint8Array(MIB))
    asked.resolve()
    return new Promise<Response>(() => undefined)
  })
  const urls = [failing, slow].map(({ url }) => String(url).replace(/\/$/, ''))
  // Room for one answer of this size.
  const node = createNode({ urls, maxHeldBytes: MIB, clock: handClock() })
  try {
    const leaving = new AbortController()
    const left = node.get('/getChainInfo', { signal: leaving.signal })
    await asked.promise
    leaving.abort('left')
    await expect(left).rejects.toMatchObject({ kind: 'deadline' })
    const answer = await node.get('/getChainInfo')
    expect([answer.status, answer.body.byteLength]).toEqual([200, MIB])
    answer.release()
  } finally {
    node.close()
    await Promise.all([failing.stop(true), slow.stop(true)])
  }
})

test('get: with 192 requests in progress, a slow one is not sent to a second node', async () => {
  const [hung, second] = [serverOf(() => new Promise<Response>(() => undefined)), serverOf(() => new Response('{}'))]
  const urls = [hung, second].map(({ url }) => String(url).replace(/\/$/, ''))
  const clock = handClock()
  const node = createNode({ urls, clock })
  try {
    const leaving = new AbortController()
    const asked = Array.from({ length: 200 }, () => node.get('/getChainInfo', { signal: leaving.signal }))
    const ended = Promise.allSettled(asked)
    // The first 191 are to be sent again after this time.
    await clock.awaited(700, 191)
    leaving.abort('left')
    await ended
  } finally {
    node.close()
    await Promise.all([hung.stop(true), second.stop(true)])
  }
})
