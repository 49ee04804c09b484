import { expect, test } from 'bun:test'
import { collectPieces, needsLength } from './stream.ts'

const MEGABYTE = 1024 * 1024

async function* piecesOf(count: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < count; at += 1) yield new Uint8Array(MEGABYTE).fill(at)
}

test('collectPieces: pieces become one body, and a body of more than 8 MiB is refused with the remedy', async () => {
  const body = await collectPieces(piecesOf(8))
  expect([body.length, body[0], body.at(-1)]).toEqual([8 * MEGABYTE, 0, 7])
  await expect(collectPieces(piecesOf(9))).rejects.toThrow('in nginx set proxy_http_version 1.1')
})

test.each([
  [{}, false],
  [{ connection: 'keep-alive' }, false],
  [{ connection: 'closed' }, false],
  [{ connection: 'close' }, true],
  [{ connection: 'TE, Close' }, true],
])('needsLength: %j', (headers, expected) => {
  expect(needsLength(new Request('http://localhost/', { headers }))).toBe(expected)
})
