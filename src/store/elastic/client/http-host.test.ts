import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { NoResponse } from './http-connection.ts'
import { Host, type HttpRequest } from './http-host.ts'
import { type JobLimits, PendingRequests, RequestTimeout } from './pending-requests.ts'

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'
const FAR_MS = 60_000
const asked = { method: 'GET', path: '/a' } as const
const never = Number.POSITIVE_INFINITY

/** The server's reaction to the `n`th request of a connection (from 1). */
let answer: (socket: Socket, n: number, text: string) => void
let requests: string[]
let connections: Socket[]
let server: Server
let reads: ReturnType<typeof open>
let url: URL

/** Sends requests to one host within limits, like a connection. */
const open = (options: ConstructorParameters<typeof Host>[0]) => {
  const host = new Host(options)
  const pendingRequests = new PendingRequests(() => {})
  return {
    read: (request: Omit<HttpRequest, 'isRepeatable'>, limits: Omit<JobLimits, 'lateMs'>) => {
      const pending = pendingRequests.begin(host, undefined, { ...limits, lateMs: never })
      void pendingRequests.track(pending, pending.first, host.send({ ...request, isRepeatable: true }, pending.first))
      return pending.result.promise
    },
    close: () => {
      pendingRequests.endAll()
      host.close()
    },
  }
}

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
      const whole = text
      text = ''
      count += 1
      answer(socket, count, whole)
    })
  })
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/prefix/`)
  reads = open({ url, auth: { apiKey: 'secret' }, maxSockets: 3 })
})
afterEach(() => {
  reads.close()
  for (const socket of connections) socket.destroy()
  server.close()
})

const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    error => error,
  )
const closed = (socket: Socket | undefined): Promise<void> =>
  new Promise(done => (socket === undefined || socket.destroyed ? done() : socket.once('close', () => done())))

test('read: requests are sent as HTTP/1.1 on one connection, one after the other', async () => {
  for (const path of ['/a?b=c', '/a b\r\nX: y']) {
    const { status, text } = await reads.read({ method: 'POST', path, body: '{"行":1}' }, { ms: FAR_MS })
    expect([status, text]).toEqual([200, '{}'])
  }
  expect(connections).toHaveLength(1)
  const [first = '', second = ''] = requests.map(each => Buffer.from(each, 'latin1').toString())
  expect(first.split('\r\n')).toEqual([
    'POST /prefix/a?b=c HTTP/1.1',
    `Host: ${url.host}`,
    'Accept-Encoding: identity',
    'Authorization: ApiKey secret',
    'Accept: application/json',
    'Content-Type: application/json',
    'Content-Length: 9',
    '',
    '{"行":1}',
  ])
  expect(second).toStartWith('POST /prefix/a%20b%0D%0AX:%20y HTTP/1.1\r\n')
})

test('read: a request on a reused connection that closes before the answer is repeated once', async () => {
  await reads.read(asked, { ms: FAR_MS })
  answer = (socket, n) => (n === 1 ? socket.write(ANSWER) : socket.destroy())
  expect((await reads.read(asked, { ms: FAR_MS })).text).toBe('{}')
  expect([requests.length, connections.length]).toEqual([3, 2])
})

test('read: a new connection that closes fails at once', async () => {
  answer = socket => socket.destroy()
  expect(await thrownBy(reads.read(asked, { ms: FAR_MS }))).toBeInstanceOf(NoResponse)
  expect(requests).toHaveLength(1)
})

test('read: an incomplete answer is a failure, also on a reused connection', async () => {
  await reads.read(asked, { ms: FAR_MS })
  answer = socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"a"')
  expect(await thrownBy(reads.read(asked, { ms: FAR_MS }))).toBeInstanceOf(NoResponse)
  expect(requests).toHaveLength(2)
})

test('read: a time-out or abort closes the connection, so that a late answer cannot belong to another request', async () => {
  answer = () => {}
  expect(await thrownBy(reads.read(asked, { ms: 1 }))).toBeInstanceOf(RequestTimeout)
  await closed(connections[0])
  const stop = new AbortController()
  answer = () => stop.abort()
  expect(await thrownBy(reads.read(asked, { ms: FAR_MS, signal: stop.signal }))).toBeInstanceOf(RequestTimeout)
  await closed(connections[1])
  answer = socket => socket.write(ANSWER)
  expect((await reads.read(asked, { ms: FAR_MS })).text).toBe('{}')
})

test('read: a server that accepts a connection and never sends its TLS certificate keeps no socket of ours', async () => {
  url.protocol = 'https:'
  const hung = open({ url, auth: undefined, maxSockets: 1 })
  for (const n of [1, 2]) {
    const stop = new AbortController()
    server.once('connection', socket => socket.once('data', () => stop.abort()))
    expect(await thrownBy(hung.read(asked, { ms: FAR_MS, signal: stop.signal }))).toBeInstanceOf(RequestTimeout)
    await closed(connections[n - 1])
    expect(connections).toHaveLength(n)
  }
  hung.close()
})

test('read: the number of concurrent requests is limited, and requests aborted while waiting are never sent', async () => {
  const held: Socket[] = []
  answer = socket => {
    held.push(socket)
    if (held.length === 3) stop.abort()
  }
  const stop = new AbortController()
  const all = Array.from({ length: 9 }, (_, n) =>
    reads.read({ method: 'GET', path: `/${n}` }, { ms: FAR_MS, ...(n > 5 ? { signal: stop.signal } : {}) }),
  )
  expect(await Promise.all(all.slice(6).map(thrownBy))).toEqual(new Array(3).fill(expect.any(RequestTimeout)))
  answer = socket => socket.write(ANSWER)
  for (const socket of held) socket.write(ANSWER)
  expect((await Promise.all(all.slice(0, 6))).map(({ text }) => text)).toEqual(new Array(6).fill('{}'))
  expect([requests.length, connections.length]).toEqual([6, 3])
})

test('read: unsolicited bytes close the connection', async () => {
  await reads.read(asked, { ms: FAR_MS })
  connections[0]?.write(ANSWER)
  await closed(connections[0])
  answer = socket => socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
  expect((await reads.read(asked, { ms: FAR_MS })).status).toBe(404)
})

test('read: some MB are sent as fast as the server reads them', async () => {
  const body = 'x'.repeat(8_000_000)
  answer = (socket, _n, text) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${text.length > body.length}`, () => socket.end())
  expect((await reads.read({ method: 'POST', path: '/', body }, { ms: FAR_MS })).text).toBe('true')
})

test('close: running requests fail, and so do later ones', async () => {
  answer = () => reads.close()
  expect(await thrownBy(reads.read(asked, { ms: FAR_MS }))).toBeInstanceOf(NoResponse)
  expect(await thrownBy(reads.read(asked, { ms: FAR_MS }))).toBeInstanceOf(NoResponse)
})

test('read: an address without a server is a failure', async () => {
  const none = open({ url: new URL('http://127.0.0.1:1'), auth: undefined, maxSockets: 1 })
  expect(await thrownBy(none.read(asked, { ms: FAR_MS }))).toBeInstanceOf(NoResponse)
  none.close()
})
