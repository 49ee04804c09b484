import { describe, expect, test } from 'bun:test'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { createNode } from '#node/archive-node.ts'
import { idleClock } from '#test/support/clocks/idle-clock.ts'
import { startFaultyNode } from '#test/support/nodes/faulty-node.ts'

// A node may lie in the size of an answer: a few bytes that unpack to many, or a text that takes many times its length.

const MIB = 1024 * 1024
const SPACES = Buffer.alloc(2 * MIB, ' ')
const packed = (coding: string, body: Uint8Array<ArrayBuffer>): Response =>
  new Response(body, { headers: { 'content-encoding': coding } })
const wide = (part: string, parts: number): Response =>
  new Response(`{"block_list":[${part.repeat(parts)}${part.slice(0, -1)}]}`)

/** The message with which a node refuses this answer to getChainInfo. */
async function refusalOf(answer: () => Response): Promise<string> {
  await using node = await startFaultyNode(({ path }) => (path === '/getChainInfo' ? answer() : undefined))
  const asked = createNode({ urls: [node.url], clock: idleClock() })
  try {
    await asked.chainInfo()
    return 'accepted'
  } catch (error) {
    expect(node.asked[0]?.headers.get('accept-encoding')).toBe('gzip')
    return (error as Error).message.replaceAll(node.url, 'NODE')
  } finally {
    asked.close()
  }
}

describe('a lying node: sizes', () => {
  test.each([
    [
      'br',
      () => packed('br', new Uint8Array(brotliCompressSync(SPACES))),
      "the response is compressed as 'br', which was not asked for",
    ],
    [
      'zstd',
      () => packed('zstd', new Uint8Array(zstdCompressSync(SPACES))),
      "the response is compressed as 'zstd', which was not asked for",
    ],
    ['gzip', () => packed('gzip', new Uint8Array(gzipSync(SPACES))), 'is over 65536 bytes'],
    ['gzip that is none', () => packed('gzip', new Uint8Array(9)), 'cannot be unpacked as gzip'],
    ['a long text', () => new Response(' '.repeat(70_000)), 'is over 65536 bytes'],
    ['lists', () => wide('[],', 15_000), 'has over 10000 texts, brackets and commas'],
    ['objects', () => wide('{},', 15_000), 'has over 10000 texts, brackets and commas'],
    ['texts', () => wide('"",', 15_000), 'has over 10000 texts, brackets and commas'],
    ['numbers', () => wide('1,', 15_000), 'has over 10000 texts, brackets and commas'],
  ])('%s: refused with the names of the node and the call', async (_, answer, rule) => {
    const message = await refusalOf(answer)
    expect(message).toContain('NODE')
    expect(message).toContain('getChainInfo')
    expect(message).toContain(rule)
  })
  test('gzip that is asked for is unpacked', async () => {
    await using node = await startFaultyNode(async ({ path }, truth) =>
      path === '/getChainInfo' ? packed('gzip', new Uint8Array(gzipSync(await truth()))) : undefined,
    )
    const asked = createNode({ urls: [node.url], clock: idleClock() })
    expect((await asked.chainInfo()).chainId).toBe(1020)
    asked.close()
  })
})
