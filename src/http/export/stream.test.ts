import { expect, test } from 'bun:test'
import { collectPieces, gzipPacker, needsLength } from './stream.ts'

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

test('gzipPacker: the pieces are one gzip stream', async () => {
  const packer = gzipPacker()
  const packed: Uint8Array[] = []
  for (const text of ['one ', 'two ', 'three']) packed.push(await packer.pack(new TextEncoder().encode(text)))
  packed.push(await packer.end())
  packer.close()
  expect(packed.slice(0, 3).every(({ length }) => length > 0)).toBe(true)
  expect(new TextDecoder().decode(Bun.gunzipSync(Buffer.concat(packed)))).toBe('one two three')
})
