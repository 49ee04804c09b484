import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { failureOf } from '#test/support/refusal.ts'
import { until } from '#test/support/wait.ts'
import { connect } from './connection.ts'
import { Host, NoResponse } from './host.ts'
import type { Request } from './request.ts'

const HEAD = 'HTTP/1.1 200 OK\r\nX-Elastic-Product: Elasticsearch\r\n'
const ANSWER = `${HEAD}Content-Length: 2\r\n\r\n{}`
const SEARCH: Request = { method: 'POST', path: '/a/_search', body: '{}' }
const MIB = 1024 * 1024

/** The server's reaction to the `n`th request of a connection (from 1). */
let answer: (socket: Socket, n: number) => void
let requests: string[]
let connections: Socket[]
let server: Server
let host: Host
let url: URL

beforeEach(async () => {
  requests = []
  connections = []
  answer = socket => socket.write(ANSWER)
  server = createServer(socket => {
    connections.push(socket)
    socket.on('error', () => {})
    let [text, count] = ['', 0]
    socket.on('data', data => {
      text += data.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (head === -1 || text.length < head + 4 + length) return
      requests.push(text)
      text = ''
      answer(socket, ++count)
    })
  })
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/prefix/`)
  host = new Host(url, { auth: { apiKey: 'secret' }, ca: undefined, maxSockets: 3 })
})
afterEach(() => {
  for (const socket of connections) socket.destroy()
  server.close()
})

const never = (): AbortSignal => new AbortController().signal
const send = (request: Request, signal = never()) => host.send(request, signal)
const isClosed = (socket: Socket | undefined) => until(() => socket?.closed === true || socket?.readableEnded === true)
const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

test('send: requests share a connection, and their heads have the path, the key and the type of the body', async () => {
  for (const path of ['/a/_search', '/a b\r\nX: y/_search'])
    expect((await send({ method: 'POST', path, query: { b: 'c d' }, body: '{"行":1}' })).text).toBe('{}')
  expect(connections).toHaveLength(1)
  const [first = '', second = ''] = requests.map(each => Buffer.from(each, 'latin1').toString())
  const [line, ...lines] = first.split('\r\n')
  expect(line).toBe('POST /prefix/a/_search?b=c%20d HTTP/1.1')
  expect(lines.filter(each => !/^(?:user-agent|connection):/i.test(each)).toSorted()).toEqual([
    '',
    'Accept-Encoding: identity',
    'Accept: application/json',
    'Authorization: ApiKey secret',
    'Content-Length: 9',
    'Content-Type: application/json',
    `Host: ${url.host}`,
    '{"行":1}',
  ])
  expect(second).toStartWith('POST /prefix/a%20b%0D%0AX:%20y/_search?b=c%20d HTTP/1.1\r\n')
})

for (const path of ['/a/_doc/..', '/a/_doc/.', '/a/../b'])
  test(`send: ${path} is refused, because the URL standard would shorten it`, async () => {
    expect((await failureOf(send({ method: 'GET', path }))).kind).toBe('usage')
    expect(requests).toHaveLength(0)
  })

test('send: a read on a reused connection that closes before the answer is repeated once', async () => {
  await send(SEARCH)
  answer = (socket, n) => (n === 1 ? socket.write(ANSWER) : socket.destroy())
  expect((await send(SEARCH)).text).toBe('{}')
  expect([requests.length, connections.length]).toEqual([3, 2])
  answer = socket => socket.destroy()
  expect(await thrownBy(send(SEARCH))).toBeInstanceOf(NoResponse)
  expect(requests).toHaveLength(5)
})

test.each([
  'SSH-2.0-OpenSSH_9.2\r\n\r\n',
  `${HEAD}Content-Length: 9\r\n\r\n{"a"`,
  `${HEAD}Transfer-Encoding: chunked\r\n\r\n9\r\n{"a"`,
  `${HEAD}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`,
])('send: %j is no answer, or an incomplete one', async text => {
  answer = socket => socket.end(text)
  expect(await thrownBy(send(SEARCH))).toBeInstanceOf(NoResponse)
})

test('send: an abort closes the connection, so that a late answer cannot belong to another request', async () => {
  const stop = new AbortController()
  answer = () => stop.abort()
  expect(await thrownBy(send(SEARCH, stop.signal))).toBeInstanceOf(Error)
  await isClosed(connections[0])
  answer = socket => socket.write(ANSWER)
  expect((await send(SEARCH)).text).toBe('{}')
  expect(connections).toHaveLength(2)
})

test('send: a server that accepts a connection and never sends its TLS certificate keeps no socket of ours', async () => {
  url.protocol = 'https:'
  host = new Host(url, { auth: undefined, ca: undefined, maxSockets: 1 })
  for (const n of [1, 2]) {
    const stop = new AbortController()
    server.once('connection', socket => socket.once('data', () => stop.abort()))
    expect(await thrownBy(send(SEARCH, stop.signal))).toBeInstanceOf(Error)
    await isClosed(connections[n - 1])
    expect(connections).toHaveLength(n)
  }
})

test('send: bytes that nobody asked for are not the next answer', async () => {
  await send(SEARCH)
  connections[0]?.write(`${HEAD}Content-Length: 3\r\n\r\n[1]`)
  await Bun.sleep(20)
  expect((await send(SEARCH)).text).toBe('{}')
})

test('send: a packed answer that nobody asked for is refused', async () => {
  answer = socket => socket.write(`${HEAD}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`)
  expect(String(await thrownBy(send(SEARCH)))).toContain('compressed')
})

/** Sends some MB of an answer. */
function pour(socket: Socket, framing: string, megabytes: number): void {
  socket.write(`${HEAD}${framing}\r\n\r\n`)
  const piece = Buffer.alloc(MIB, ' ')
  const goOn = (left: number): void => {
    if (left > 0 && !socket.destroyed) socket.write(piece, () => goOn(left - 1))
  }
  goOn(megabytes)
}

test.each([
  [`Content-Length: ${97 * MIB}`],
  [`Transfer-Encoding: chunked\r\n\r\n${(200 * MIB).toString(16)}`],
  ['Connection: close'],
])('send: an answer over the bound is refused, %s', async framing => {
  answer = socket => pour(socket, framing, 100)
  expect(String(await thrownBy(send(SEARCH)))).toContain('bytes')
})

test('send: all answers at once have one bound, and the memory of one that is given up is free again', async () => {
  const stop = new AbortController()
  answer = socket => pour(socket, `Content-Length: ${64 * MIB}`, 60)
  const held = thrownBy(send(SEARCH, stop.signal))
  await until(() => {
    const [socket] = connections
    return socket !== undefined && socket.bytesWritten >= 60 * MIB && socket.writableLength === 0
  })
  expect(String(await thrownBy(send(SEARCH)))).toContain('The answers to all requests')
  stop.abort()
  await held
  answer = socket => pour(socket, `Content-Length: ${64 * MIB}`, 64)
  expect((await send(SEARCH)).text).toHaveLength(64 * MIB)
})

test.each(['POST', 'PUT', 'DELETE'] as const)(
  'connection: a %s that is cut off on a reused socket is sent once',
  async method => {
    const connection = connect({ url: url.origin })
    await connection.send({ method, path: '/before', body: '{}' })
    answer = socket => socket.destroy()
    const failure = await failureOf(connection.send({ method, path: '/change', body: '{}' }))
    expect([failure.kind, failure.retryable]).toEqual(['unavailable', true])
    expect(requests.filter(head => head.includes('/change'))).toHaveLength(1)
    await connection.close()
  },
)

test('connection: the number of sockets is limited, and a request that is aborted while it waits for one frees its slot', async () => {
  const connection = connect({ url: url.origin, maxSockets: 3 })
  const waiting: Socket[] = []
  // Requests with an odd number get no answer.
  answer = socket => void (/^POST \/\d*[02468] /.test(requests.at(-1) ?? '') && waiting.push(socket))
  const stop = new AbortController()
  const asked = Array.from({ length: 9 }, (_, n) =>
    connection.send({ ...SEARCH, path: `/${n}`, ...(n % 2 === 0 ? {} : { signal: stop.signal }) }),
  )
  const settled = Promise.allSettled(asked)
  await until(() => requests.length === 3)
  await Bun.sleep(20)
  expect(requests).toHaveLength(3)
  stop.abort()
  while (Bun.peek.status(settled) === 'pending') {
    for (const socket of waiting.splice(0)) socket.write(ANSWER)
    await Bun.sleep(1)
  }
  expect((await settled).map(({ status }) => status === 'fulfilled')).toEqual(asked.map((_, n) => n % 2 === 0))
  await connection.close()
})

test('connection: proxies in the environment are ignored', async () => {
  const proxy = Bun.serve({ port: 0, fetch: () => new Response('', { status: 500 }) })
  const before = process.env['HTTP_PROXY']
  process.env['HTTP_PROXY'] = proxy.url.origin
  const connection = connect({ url: url.origin })
  try {
    for (const method of ['GET', 'POST'] as const)
      expect(await connection.send({ method, path: '/' })).toEqual({ status: 200, text: '{}' })
  } finally {
    if (before === undefined) delete process.env['HTTP_PROXY']
    else process.env['HTTP_PROXY'] = before
    await connection.close()
    await proxy.stop(true)
  }
})
