import { expect, test } from 'bun:test'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { createNode } from '#node/archive-node.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { at, changed, isBulk, json, read, single, slice } from '../support/nodes/read-blocks.ts'

const any = (_path: string): boolean => true
const isTexts = (path: string): boolean => path === '/getBlockTxsByContract'
const isHeads = (path: string): boolean => path === '/getBlockHeaderByRange'
/** The answers to some paths, changed. */
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
/** Faults that may pass. */
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
