import { expect, test } from 'bun:test'
import { BadResponse, ResponseReader } from './http-response.ts'

// A server may lie in the size of its answers: what this thread keeps of them is bounded.

const MIB = 1024 * 1024
const PIECE = Buffer.alloc(4 * MIB, ' ')

/** Begins an answer and reads pieces of its body until it is refused, or `most` bytes have arrived. */
const readMost = (reader: ResponseReader, framing: string, most: number): number => {
  reader.push(Buffer.from(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`))
  let bytes = 0
  for (; bytes < most; bytes += PIECE.length) reader.push(PIECE)
  return bytes
}

test('an answer whose length is over the bound is refused before its body arrives', () => {
  const reader = new ResponseReader()
  expect(() => reader.push(Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${97 * MIB}\r\n\r\n`))).toThrow(BadResponse)
  reader.release()
})

test.each([
  ['in one chunk', `Transfer-Encoding: chunked\r\n\r\n${(200 * MIB).toString(16)}`],
  ['up to the end of the connection', 'Connection: close'],
])('an answer %s is refused once it is over the bound', (_, framing) => {
  const reader = new ResponseReader()
  expect(() => readMost(reader, framing, 100 * MIB)).toThrow('bytes')
  reader.release()
})

test('all answers at once have one bound, and the memory of one that is given up is free again', () => {
  const [first, second, third] = [new ResponseReader(), new ResponseReader(), new ResponseReader()]
  const framing = `Content-Length: ${64 * MIB}`
  expect(readMost(first, framing, 60 * MIB)).toBe(60 * MIB)
  expect(() => readMost(second, framing, 60 * MIB)).toThrow('The answers to all requests have more than')
  second.release()
  first.release()
  expect(readMost(third, framing, 60 * MIB)).toBe(60 * MIB)
  third.release()
})
