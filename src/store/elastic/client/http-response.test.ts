import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { BadResponse, type HttpResponse, ResponseReader } from './http-response.ts'

/** Reads bytes in pieces that end at `cuts`; undefined: the bytes end before the answer does. */
const readIn = (bytes: Uint8Array, cuts: readonly number[] = []): HttpResponse | undefined => {
  const reader = new ResponseReader()
  const ends = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].toSorted((a, b) => a - b)
  let from = 0
  for (const end of [...ends, bytes.length]) {
    if (end === from) continue
    const answer = reader.push(bytes.subarray(from, end))
    if (answer !== undefined) return answer
    from = end
  }
  return undefined
}
const bytesOf = (...texts: readonly string[]): Uint8Array => Buffer.from(texts.join(''))

const chunked = (body: string, sizes: readonly number[]): string => {
  const bytes = Buffer.from(body)
  const chunks: string[] = []
  let from = 0
  for (const size of [...sizes, bytes.length]) {
    const piece = bytes.subarray(from, from + size)
    if (piece.length > 0) chunks.push(`${piece.length.toString(16)}\r\n${piece.toString('latin1')}\r\n`)
    from += size
  }
  return `${chunks.join('')}0\r\n\r\n`
}

const text = fc.string({ unit: 'grapheme', maxLength: 300 })
const cuts = fc.array(fc.nat(1_000), { maxLength: 12 })

test('an answer with a length is read the same at any division of its bytes', () =>
  fc.assert(
    fc.property(text, cuts, (body, at) => {
      const length = Buffer.byteLength(body)
      const bytes = bytesOf(`HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: ${length}\r\n\r\n`, body)
      expect(readIn(bytes, at)).toEqual({
        status: 200,
        text: body,
        headers: new Map([
          ['x-a', 'b'],
          ['content-length', String(length)],
        ]),
        keepsAlive: true,
      })
    }),
  ))

test('an answer in chunks is read the same at any division of its bytes and chunks', () =>
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 8 }), cuts, (body, sizes, at) => {
      const head = 'HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n'
      const bytes = Buffer.from(head + chunked(body, sizes), 'latin1')
      const { status, text: read, keepsAlive } = readIn(bytes, at) as HttpResponse
      expect([status, read, keepsAlive]).toEqual([404, body, true])
    }),
  ))

test('an answer of some hundred kB is read, in chunks and in many pieces', () => {
  const body = JSON.stringify(Array.from({ length: 20_000 }, (_, n) => `row ${n} 行`))
  const bytes = Buffer.from(
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(body, [70_000, 1, 5])}`,
    'latin1',
  )
  expect(readIn(bytes, [1, 100, 70_000, 70_060, 70_071, 200_000])?.text).toBe(body)
})

test('interim answers are skipped', () => {
  const bytes = bytesOf('HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
  expect([readIn(bytes)?.status, readIn(bytes)?.text]).toEqual([200, '{}'])
})

test('the end of the connection ends an answer without a length, and no other', () => {
  const closing = new ResponseReader()
  expect(closing.push(bytesOf('HTTP/1.1 200 OK\r\n\r\n{"a"'))).toBeUndefined()
  expect(closing.push(bytesOf(':1}'))).toBeUndefined()
  expect(closing.end()).toMatchObject({ text: '{"a":1}', keepsAlive: false })
  for (const begun of ['', 'HTTP/1.1 200 OK\r\nContent-Le', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{}']) {
    const reader = new ResponseReader()
    if (begun !== '') reader.push(bytesOf(begun))
    expect(() => reader.end()).toThrow(BadResponse)
  }
})

const keeping: readonly (readonly [string, boolean])[] = [
  ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', true],
  ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n', false],
  ['HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', false],
  ['HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n', true],
  // The bytes after the answer belong to no request.
  ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n', false],
  ['HTTP/1.1 204 No Content\r\n\r\n', true],
]
for (const [answer, keepsAlive] of keeping)
  test(`the connection is ${keepsAlive ? '' : 'not '}kept after ${JSON.stringify(answer)}`, () => {
    expect(readIn(bytesOf(answer))?.keepsAlive).toBe(keepsAlive)
  })

const bad: readonly string[] = [
  '\x15\x03\x01\x00\x02\x02\r\n\r\n',
  'SSH-2.0-OpenSSH_9.2\r\n\r\n',
  'HTTP/2 200\r\n\r\n',
  'HTTP/1.1 099 No\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 1e3\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nab\r\n',
  `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(70_000)}`,
]
for (const answer of bad)
  test(`refused: ${JSON.stringify(answer.slice(0, 80))}`, () => {
    expect(() => readIn(bytesOf(answer))).toThrow(BadResponse)
    expect(() =>
      readIn(
        bytesOf(answer),
        Array.from(answer.slice(0, 200), (_, at) => at),
      ),
    ).toThrow(BadResponse)
  })
