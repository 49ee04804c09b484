import { expect, test } from 'bun:test'
import { createNode, type NodeOptions } from '#node/archive-node.ts'
import { failureOf } from '#test/support/refusal.ts'
import { handClock } from '../support/clocks/hand-clock.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { at, changed } from '../support/nodes/read-blocks.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'

const NOWHERE = 'http://127.0.0.1:1'
const down: Fault = () => new Response('', { status: 503 })
const changingAt = (start: string, change: (text: string) => string): Fault =>
  at(path => path.startsWith(start), changed(change))

/** A client, with a clock whose sleeps take no time, of nodes with these faults. A number: the height of the chain. */
async function clientOf(faults: readonly (Fault | number)[], options: Partial<NodeOptions> = {}) {
  const nodes = await Promise.all(
    faults.map(fault => (typeof fault === 'number' ? startFaultyNode(undefined, fault) : startFaultyNode(fault))),
  )
  const clock = idleClock()
  const urls = nodes.map(({ url }) => url)
  const asked = (at = 0) => nodes[at]?.asked.map(({ path }) => path)
  const dispose = async () => void (await Promise.all(nodes.map(node => node[Symbol.asyncDispose]())))
  const node = createNode({ urls, clock, ...options })
  return { node, nodes, clock, urls, asked, [Symbol.asyncDispose]: dispose }
}
const honest: Fault = () => undefined

test('chainInfo: the highest answer of several nodes is returned, and later requests go to that node', async () => {
  await using two = await clientOf([10, 20])
  expect((await two.node.chainInfo()).libBlock).toBe(20)
  expect(await two.node.blockHash(15)).toBe((await recordedBlocks())[15]?.block.hash ?? '')
  expect(two.asked()).toEqual(['/getChainInfo'])
  two.nodes[0]?.setHeight(30)
  expect((await two.node.chainInfo()).libBlock).toBe(30)
  await two.node.blockHash(25)
  expect(two.asked()).toEqual(['/getChainInfo', '/getChainInfo', '/getBlockByNumber/25/false'])
})

test('chainInfo: a node that is down does not hide the other one, and is tried again after its pause', async () => {
  let broken = true
  await using two = await clientOf([(asked, truth) => (broken ? down(asked, truth) : undefined), 20])
  expect((await two.node.chainInfo()).libBlock).toBe(20)
  broken = false
  expect((await two.node.chainInfo()).libBlock).toBe(20)
  await two.clock.sleep(10_000)
  expect((await two.node.chainInfo()).libBlock).toBe(4851)
})

test('chainInfo: a node of another chain gets no request for blocks', async () => {
  const foreign = changingAt('/getChainInfo', text => text.replace('"chain_id":1020', '"chain_id":1024'))
  await using two = await clientOf([10, foreign])
  expect((await two.node.chainInfo()).libBlock).toBe(10)
  await two.node.blockHash(5)
  expect([two.asked(1), two.asked(0)]).toEqual([['/getChainInfo'], ['/getChainInfo', '/getBlockByNumber/5/false']])
})

test('chainInfo: if no node answers, the failure gives the reason of each after growing pauses', async () => {
  await using three = await clientOf([down, () => new Response('<html>')])
  const node = createNode({ urls: [...three.urls, NOWHERE], clock: three.clock })
  expect(await failureOf(node.chainInfo())).toMatchObject({
    kind: 'unavailable',
    message:
      `No node gave a usable response to getChainInfo: ${three.urls[0]}: status 503; ` +
      `${three.urls[1]}: getChainInfo: 6 characters that are not JSON; ${NOWHERE}: no connection (ECONNREFUSED).`,
  })
  expect(three.clock.slept.length).toBe(1)
})

test('ask: a single node is tried again after doubling pauses, five times; another one is tried at once', async () => {
  await using one = await clientOf([down])
  await failureOf(one.node.contractCode('token.iost'))
  expect([one.clock.slept, one.asked()?.length]).toEqual([[187.5, 375, 750, 1500], 5])
  await using two = await clientOf([down, honest])
  expect((await two.node.contractCode('token.iost'))?.id).toBe('token.iost')
  expect(two.clock.slept).toEqual([])
})

test('ask: Retry-After is respected up to a minute', async () => {
  const pauses = ['3', '86400']
  const limited: Fault = () => {
    const pause = pauses.shift()
    return pause === undefined ? undefined : new Response('', { status: 429, headers: { 'retry-after': pause } })
  }
  await using busy = await clientOf([limited])
  await busy.node.contractCode('token.iost')
  expect(busy.clock.slept).toEqual([3000, 60_000])
})

test('contractCode: the methods of a contract are returned, undefined for one that no node has, and a system one is refused', async () => {
  await using one = await clientOf([honest])
  const code = await one.node.contractCode('token.iost')
  expect(code).toMatchObject({ id: 'token.iost', language: 'native', version: '1.0.6' })
  expect(code?.abis).toContainEqual({
    ...{ name: 'transfer', args: Array(5).fill('string') },
    amount_limit: [{ token: '*', value: 'unlimited' }],
  })
  expect(await one.node.contractCode('ContractXYZ')).toBeUndefined()
  expect(await failureOf(one.node.contractCode('nosuch.iost'))).toMatchObject({
    kind: 'unavailable',
    message: `${one.urls[0]} refuses contract nosuch.iost: contract not found (code 2).`,
  })
  expect(one.asked()?.length).toBe(3)
})

test('contractCode: an answer about another contract is requested again and never used', async () => {
  let wrong = 1
  const lies = changingAt('/getContract/', text =>
    wrong-- > 0 ? text.replace('"id":"token.iost"', '"id":"token721.iost"') : text,
  )
  await using one = await clientOf([lies])
  expect((await one.node.contractCode('token.iost'))?.id).toBe('token.iost')
  wrong = Number.POSITIVE_INFINITY
  expect(await failureOf(one.node.contractCode('token.iost'))).toMatchObject({
    kind: 'bad_block',
    message: `${one.urls[0]}: The node returned contract token721.iost for contract token.iost.`,
  })
})

test('contractCode: control characters in a node’s refusal do not reach a terminal', async () => {
  const text = '{"code":2,"message":"a\\u0000b\\u001b[31m\\u009bc"}'
  await using one = await clientOf([() => new Response(text, { status: 400 })])
  const { message } = await failureOf(one.node.contractCode('token.iost'))
  expect(message).toBe(`${one.urls[0]} refuses contract token.iost: a\\u{0}b\\u{1b}[31m\\u{9b}c (code 2).`)
})

test('blockHash: undefined above the last block, without waiting, and for a block that may still change', async () => {
  await using low = await clientOf([10])
  expect(await low.node.blockHash(0)).toBe('HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ')
  expect(await low.node.blockHash(11)).toBeUndefined()
  expect(low.clock.slept).toEqual([])
  await using pending = await clientOf([changingAt('/', text => text.replace('IRREVERSIBLE', 'PENDING'))])
  expect(await pending.node.blockHash(5)).toBeUndefined()
})

test('get: status, content type and bytes are passed on unchanged, redirects included', async () => {
  const odd = new Response(new Uint8Array([0, 255, 7]), { status: 503, headers: { 'content-type': 'x/y' } })
  const moved = new Response(null, { status: 301, headers: { location: '/b' } })
  await using one = await clientOf([({ path }) => ({ '/odd': odd, '/a': moved })[path]])
  const said = async (path: string) => {
    const { status, contentType, body } = await one.node.get(path)
    return [status, contentType, Buffer.from(body).toString('latin1')]
  }
  expect(await said('/odd')).toEqual([503, 'x/y', '\u0000ÿ\u0007'])
  const unknown = '{"code":2,"message":"tx not found"}'
  expect(await said('/getTxByHash/xx')).toEqual([400, 'text/plain; charset=utf-8', unknown])
  expect((await said('/a'))[0]).toBe(301)
  expect(one.asked()).toEqual(['/odd', '/getTxByHash/xx', '/a'])
})

test('get: the next node is asked when one does not answer, and an answer over the size limit fails', async () => {
  const large: Fault = ({ path }) => (path === '/large?x=1' ? new Response(new Uint8Array(1001)) : undefined)
  await using one = await clientOf([large])
  const node = createNode({ urls: [NOWHERE, ...one.urls], clock: idleClock(), maxRequestBytes: 1000 })
  expect((await node.get('/getRAMInfo')).status).toBe(200)
  expect(await failureOf(node.get('/large?x=1'))).toMatchObject({
    kind: 'unavailable',
    message: `No node gave a usable response to /large: ${NOWHERE}: no connection (ECONNREFUSED); ${one.urls[0]}: the response is over 1000 bytes.`,
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

test.each([
  [['user:secret@host'], 'A node URL must begin with http:// or https://.'],
  [['ftp://host'], 'A node URL must begin with http:// or https://.'],
  [[''], 'A node URL must begin with http:// or https://.'],
  [['http://u:secret@host/a?key=1'], 'Node URL http://host/a has a query or fragment, which is not allowed.'],
  [[], 'No node URL is set.'],
])('createNode: %p are not the URLs of nodes', (urls, message) => {
  expect(() => createNode({ urls })).toThrow(message)
})

test('close: open requests end and later ones are refused', async () => {
  await using hanging = await clientOf([() => new Promise<never>(() => undefined)])
  const node = createNode({ urls: hanging.urls })
  const asked = failureOf(node.chainInfo())
  node.close()
  const ended = { kind: 'deadline', message: 'The request to the node was cancelled.' }
  expect(await asked).toMatchObject(ended)
  expect(await failureOf(node.get('/getNodeInfo'))).toMatchObject(ended)
})

const MIB = 1024 * 1024

test('get: the memory of a failed answer is released when the caller leaves while another node is asked', async () => {
  const asked = Promise.withResolvers<void>()
  let [first, second] = [0, 0]
  const failing: Fault = () => new Response(first++ === 0 ? new Uint8Array(MIB) : 'failed', { status: 500 })
  const slow: Fault = () => {
    if (second++ > 0) return new Response(new Uint8Array(MIB))
    asked.resolve()
    return new Promise<never>(() => undefined)
  }
  // Room for one answer of this size.
  await using two = await clientOf([failing, slow], { maxHeldBytes: MIB, clock: handClock() })
  const leaving = new AbortController()
  const left = two.node.get('/getChainInfo', { signal: leaving.signal })
  await asked.promise
  leaving.abort('left')
  await expect(left).rejects.toMatchObject({ kind: 'deadline' })
  const answer = await two.node.get('/getChainInfo')
  expect([answer.status, answer.body.byteLength]).toEqual([200, MIB])
  answer.release()
  two.node.close()
})

test('get: with 192 requests in progress, a slow one is not sent to a second node', async () => {
  const clock = handClock()
  await using two = await clientOf([() => new Promise<never>(() => undefined), honest], { clock })
  const leaving = new AbortController()
  const asked = Array.from({ length: 200 }, () => two.node.get('/getChainInfo', { signal: leaving.signal }))
  const ended = Promise.allSettled(asked)
  // The first 191 are to be sent again after this time.
  await clock.awaited(700, 191)
  leaving.abort('left')
  await ended
  two.node.close()
})
