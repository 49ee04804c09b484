import { expect, test } from 'bun:test'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { createNode } from '#node/archive-node.ts'
import type { Clock } from '#time/clock.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { at, changed, isBulk, json, type Range, read, single, slice } from '../support/nodes/read-blocks.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { SOAK } from '../support/processes/soak.ts'

const honest: Fault = () => undefined
/** All of them are read when the recorded chain is loaded for the other tests. */
const MANY: Range = { from: 700, to: SOAK ? 4851 : 1700 }

test('blocks: every block built from bulk answers equals the one decoded by itself', async () => {
  const { blocks, asked, failure } = await read(honest, MANY)
  const expected = await slice(MANY)
  expect(failure).toBeUndefined()
  expect(blocks.length).toBe(expected.length)
  expect(blocks.findIndex((block, at) => !Bun.deepEquals(block, expected[at], true))).toBe(-1)
  // Single block calls are made only where a transaction has no action, and where a range would have one block.
  const zeroAction = expected.filter(({ block }) => block.transactions.some(({ actions }) => actions.length === 0))
  const singles = asked.filter(path => path.startsWith('/getBlockByNumber/'))
  expect(zeroAction.length).toBeGreaterThan(0)
  expect(singles.length).toBeGreaterThanOrEqual(zeroAction.length)
  expect(singles.length).toBeLessThan(zeroAction.length + 5)
})

const RANGES: readonly Range[] = [
  { from: 0, to: 0 },
  { from: 0, to: 1 },
  { from: 4851, to: 4851 },
  { from: 2390, to: 2400 },
  { from: 5, to: 4 },
]
test.each(RANGES)('blocks: $from … $to equal the recording', async ({ from, to }) => {
  const parent = (await recordedBlocks())[from - 1]?.block.hash
  const { blocks } = await read(honest, { from, to, ...(parent === undefined ? {} : { parent }) })
  expect(blocks).toEqual(await slice({ from, to }))
})

test('blocks: ranges whose answers are too large are halved until they fit', async () => {
  const range = { from: 2391, to: 2440 }
  const { blocks, failure, asked } = await read(honest, range, { maxBytes: 150_000 })
  expect(failure).toBeUndefined()
  expect(blocks).toEqual(await slice(range))
  expect(asked.filter(isBulk).length).toBeGreaterThan(4)
})

test('blocks: a parent that is not the previous block ends the stream before its first block', async () => {
  const parent = 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ'
  const { blocks, failure } = await read(honest, { from: 1200, to: 1230, parent })
  const before = (await recordedBlocks())[1199]?.block.hash
  const message = `NODE: Block 1200: parent hash is ${before}, block 1199 has ${parent}.`
  expect([blocks, failure]).toEqual([[], { kind: 'bad_block', message }])
})

/** A clock whose only running time-out ends when a test says so: an answer is never late. */
function heldTime() {
  let over = (): void => undefined
  const after: Clock['after'] = (_ms, work) => {
    over = work
    return () => {
      over = () => undefined
    }
  }
  return { clock: { ...idleClock(), after }, over: () => over() }
}

const never = () => new Promise<never>(() => undefined)
const stopping = (over: () => void) =>
  new ReadableStream({
    start: async controller => {
      controller.enqueue(Buffer.from('{"status":'))
      // Time for it to arrive.
      await Bun.sleep(50)
      over()
      await never()
    },
  })

test.each([
  ['a request to a hanging node', 3, 3],
  ['an answer that stops in the middle', 1, 2],
])('blocks: %s is abandoned after the time-out, each time', async (_, tries, most) => {
  const { clock, over } = heldTime()
  const fault: Fault = ({ path }) => {
    if (!single(path)) return undefined
    if (tries === 1) return new Response(stopping(over))
    over()
    return never()
  }
  const { failure, asked } = await read(fault, { from: 1201, to: 1201 }, { timeoutMs: 200, tries, clock })
  const message = 'No node responded to block 1201: NODE: no response within 200 ms.'
  expect(failure).toEqual({ kind: 'unavailable', message })
  const requests = asked.filter(single).length
  expect([requests >= tries, requests <= most]).toEqual([true, true])
})

test('blocks: leaving the loop early ends the running requests, and the signal of the caller ends the stream', async () => {
  await using faulty = await startFaultyNode()
  const node = createNode({ urls: [faulty.url], clock: idleClock() })
  const heights: number[] = []
  for await (const { block } of node.blocks({ from: 0, to: 4851 })) if (heights.push(block.height) === 4) break
  const asked = faulty.asked.length
  await node.chainInfo()
  expect(faulty.asked.length).toBe(asked + 1)
  const caller = new AbortController()
  const reading = (async () => {
    for await (const { block } of node.blocks({ from: 4, to: 4851, signal: caller.signal }))
      if (heights.push(block.height) === 6) caller.abort()
  })()
  await expect(reading).rejects.toMatchObject({ kind: 'deadline' })
  expect(heights).toEqual([0, 1, 2, 3, 4, 5])
})

test('blocks: a range with a wrong answer is requested as often as the limit of tries says', async () => {
  const wrong = '/getBlockTxsByContract'
  const { asked } = await read(
    ({ path }) => (path.startsWith(wrong) ? Response.json({}) : undefined),
    { from: 1201, to: 1203 },
    { tries: 3, clock: idleClock() },
  )
  expect(asked.filter(path => path.startsWith(wrong)).length).toBe(3)
})

/** The time-out is so long that it never fires. */
const PATIENT_MS = 3_600_000
const RANGE = { from: 1000, to: 1800 }

test.each([
  ['each of two nodes is asked for a part', honest, [10, 4]],
  ['a node that never answers bulk calls delays nothing', ({ path }) => (isBulk(path) ? never() : undefined), [0, 0.5]],
  ['a failing node is left', ({ path }) => (isBulk(path) ? new Response('', { status: 503 }) : undefined), [0, 0.5]],
] as readonly (readonly [string, Fault, readonly [number, number]])[])(
  'blocks: %s, and all blocks are returned',
  async (_, fault, [atLeast, share]) => {
    await using one = await startFaultyNode(fault)
    await using other = await startFaultyNode()
    const urls = [one.url, other.url]
    const node = createNode({ urls, clock: idleClock(), timeoutMs: PATIENT_MS, prove: 'linked' })
    await node.chainInfo()
    const blocks = await Array.fromAsync(node.blocks(RANGE))
    node.close()
    expect(blocks).toEqual([...(await slice(RANGE))])
    const [ofOne = 0, ofOther = 0] = [one, other].map(({ asked }) => asked.filter(({ path }) => isBulk(path)).length)
    expect([ofOne >= atLeast, ofOther >= 10, ofOne < ofOther * share]).toEqual([true, true, true])
  },
)

const any = (_path: string): boolean => true
const isTexts = (path: string): boolean => path === '/getBlockTxsByContract'
const isHeads = (path: string): boolean => path === '/getBlockHeaderByRange'
const changedAt = (match: typeof any, change: (text: string) => string, times?: number): Fault =>
  at(match, changed(change), times)
const NOT_FOUND = '{"code":2,"message":"block not found"}'
const NOT_IMPLEMENTED = '{"code":12,"message":"Not Implemented"}'

const ONCE: readonly (readonly [string, Fault])[] = [
  ['status 500', at(any, () => new Response('oops', { status: 500 }), 3)],
  ['status 429', at(any, () => new Response('', { status: 429, headers: { 'retry-after': '7' } }), 3)],
  ['status 502 with HTML', at(any, () => new Response('<html>', { status: 502 }), 2)],
  ['cut JSON', changedAt(any, text => text.slice(0, text.length / 2), 2)],
  ['not UTF-8', at(any, () => new Response(new Uint8Array([0x22, 0xff, 0x22])), 2)],
  ['block not found', at(isBulk, () => new Response(NOT_FOUND, { status: 400 }), 3)],
  ['no transactions', at(isTexts, () => json('{"blocktx_list":[]}'))],
  ['a receipt with more', changedAt(isTexts, text => text.replace(/3\.28513441/, '4.28513441'))],
  ['gas that differs', changedAt(isTexts, text => text.replace(/"gas_usage":[1-9]/, '"gas_usage":7'))],
  ['pending blocks', changedAt(isTexts, text => text.replaceAll('"IRREVERSIBLE"', '"PENDING"'))],
]
test.each(ONCE)('blocks: %s is tolerated', async (_, fault) => {
  const range = { from: 1190, to: 1230 }
  const { blocks, failure } = await read(fault, range)
  expect(failure).toBeUndefined()
  expect(blocks).toEqual(await slice(range))
})

/** Permanent faults of the raw headers, without which no signature is available. */
const HEADLESS: readonly (readonly [string, Fault])[] = [
  ['bulk calls unknown', at(isBulk, () => new Response(NOT_IMPLEMENTED, { status: 400 }))],
  ['bulk answers cut', changedAt(isBulk, text => text.slice(0, -1))],
  ['no heads', at(isHeads, () => json('{"block_list":[]}'))],
  ['lists that are null', at(isBulk, () => json('{"blocktx_list":null,"block_list":null}'))],
  ['heads with another time', changedAt(isHeads, text => text.replace(/"time":"1795/, '"time":"1796'))],
  ['heads with another parent', changedAt(isHeads, text => text.replace(/"parentHash":"..../, '"parentHash":"AAAA'))],
]
test.each(HEADLESS)('blocks: %s: tolerated where hashes are enough, otherwise refused', async (_, fault) => {
  const range = { from: 1190, to: 1230 }
  const { blocks, failure } = await read(fault, range, { prove: 'linked' })
  expect(failure).toBeUndefined()
  expect(blocks).toEqual(await slice(range))
  const signed = await read(fault, range)
  expect(signed.blocks).toEqual([])
  expect(signed.failure?.kind).toBe('bad_block')
})

const SIG = `${'A'.repeat(86)}==`
const KEY = 'VzGt610agH7JxDglOJ5e3/cEEuRkOpRimmUq8b/PLwg='
const SIGNS: readonly (readonly [string, string])[] = [
  ['{"algorithm":0, "sig":"", "pubKey":""}', 'its head has no signature'],
  [`{"algorithm":2, "sig":"${SIG}", "pubKey":"${KEY}"}`, 'is not valid'],
  [`{"algorithm":1, "sig":"${SIG}", "pubKey":"${KEY}"}`, 'algorithm 1'],
  [`{"algorithm":2, "sig":"${SIG}", "pubKey":"${'A'.repeat(43)}="}`, 'made with another key'],
]
test.each(SIGNS)('blocks: %s as a signature is refused with a remedy', async (sign, reason) => {
  const fault = changedAt(isHeads, text => text.replace(/"sign":\{[^}]*\}/g, `"sign":${sign}`))
  for (const from of [1190, 1201]) {
    const range = { from, to: 1201 }
    const { blocks, failure } = await read(fault, range)
    expect(blocks).toEqual([])
    expect(failure?.kind).toBe('bad_block')
    for (const said of [reason, '--prove linked']) expect(failure?.message).toContain(said)
    expect(failure?.help).toContain('--prove linked')
    expect((await read(fault, range, { prove: 'linked' })).blocks).toEqual(await slice(range))
  }
})

const replaced = (from: string | RegExp, to: string): Fault => changed(text => text.replace(from, to))
const refusing =
  (status: number, text = '', headers: Record<string, string> = {}): Fault =>
  () =>
    new Response(status === 302 ? null : text, { status, headers })
const ELSEWHERE = { location: '/getBlockByNumber/1201/1' }

/** Permanent faults of block 1201 alone that are never tolerated. `test/chain` has those of a block's content. */
const BAD: readonly (readonly [string, Fault, string])[] = [
  ['cut JSON', changed(text => text.slice(0, 1000)), 'getBlockByNumber: 1000 characters that are not JSON.'],
  ['another number', replaced('"number":"1201"', '"number":"1202"'), 'Block 1202: block 1201 was requested.'],
  ['null', () => json('null'), 'answer: null is not an object.'],
  ['not found', refusing(400, NOT_FOUND), 'NODE refuses block 1201: block not found (code 2).'],
  ['not UTF-8', () => new Response(new Uint8Array([0xff])), 'The response to block 1201 is not UTF-8.'],
  ['too large', () => new Response(new Uint8Array(2_000_001)), 'too much: the response is over 2000000 bytes.'],
]
const UNAVAILABLE: readonly (readonly [string, Fault, string])[] = [
  ['pending', replaced('"IRREVERSIBLE"', '"PENDING"'), 'Block 1201 is not irreversible at the node.'],
  ['status 500', refusing(500), 'No node gave a usable response to block 1201: NODE: status 500.'],
  ['status 404', refusing(404), 'NODE responds to block 1201 with status 404, which no node does.'],
  ['redirect', refusing(302, '', ELSEWHERE), 'NODE responds to block 1201 with status 302, which no node does.'],
]
test.each([
  ...BAD.map(each => [...each, 'bad_block'] as const),
  ...UNAVAILABLE.map(each => [...each, 'unavailable'] as const),
])('blocks: a permanent fault, %s, ends the stream', async (_, fault, says, kind) => {
  const broken: Fault = (asked, truth) => {
    if (isBulk(asked.path)) return new Response(NOT_IMPLEMENTED, { status: 400 })
    return single(asked.path) ? fault(asked, truth) : undefined
  }
  const range = { from: 1198, to: 1210 }
  const { blocks, failure, asked } = await read(broken, range, { maxBytes: 2_000_000, inFlight: 1, prove: 'linked' })
  expect(blocks).toEqual([])
  expect(failure?.kind).toBe(kind)
  for (const said of [says, 'NODE']) expect(failure?.message).toContain(said)
  expect(asked.filter(single).length).toBeLessThanOrEqual(10)
})

// A node may lie in the size of an answer: a few bytes that unpack to many, or a text that takes many times its length.

const MIB = 1024 * 1024
const SPACES = Buffer.alloc(2 * MIB, ' ')
const packed = (coding: string, body: Uint8Array): Response =>
  new Response(new Uint8Array(body), { headers: { 'content-encoding': coding } })
const wide = (part: string): Response => new Response(`{"block_list":[${part.repeat(15_000)}${part.slice(0, -1)}]}`)

/** The message with which a node refuses this answer to getChainInfo; undefined: it is accepted. */
async function refusalOf(answer: (truth: string) => Response): Promise<string | undefined> {
  await using node = await startFaultyNode(async ({ path }, truth) =>
    path === '/getChainInfo' ? answer(await truth()) : undefined,
  )
  const asked = createNode({ urls: [node.url], clock: idleClock() })
  const said = await asked.chainInfo().then(
    () => undefined,
    (error: Error) => error.message.replaceAll(node.url, 'NODE'),
  )
  asked.close()
  expect(node.asked[0]?.headers.get('accept-encoding')).toBe('gzip')
  return said
}

test.each<readonly [string, () => Response, string]>([
  ['br', () => packed('br', brotliCompressSync(SPACES)), "compressed as 'br', which was not asked for"],
  ['zstd', () => packed('zstd', zstdCompressSync(SPACES)), "compressed as 'zstd', which was not"],
  ['gzip', () => packed('gzip', gzipSync(SPACES)), 'is over 65536 bytes'],
  ['gzip that is none', () => packed('gzip', new Uint8Array(9)), 'cannot be unpacked as gzip'],
  ['a long text', () => new Response(' '.repeat(70_000)), 'is over 65536 bytes'],
  ...['[],', '{},', '"",', '1,'].map(
    part => [part, () => wide(part), 'has over 10000 texts, brackets and commas'] as const,
  ),
])('a lying node: sizes: %s: refused with the names of the node and the call', async (_, answer, rule) => {
  const message = await refusalOf(answer)
  for (const said of ['NODE', 'getChainInfo', rule]) expect(message).toContain(said)
})

test('gzip that is asked for is unpacked', async () => {
  expect(await refusalOf(truth => packed('gzip', gzipSync(truth)))).toBeUndefined()
})
