import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { failureOf } from '#test/support/refusal.ts'
import { until } from '#test/support/wait.ts'
import { connect } from './connection.ts'
import { Host, NoResponse, preferNodes } from './host.ts'
import { isReading, type Request, requestJson } from './request.ts'

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
const thrownBy = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

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

test('send: an abort closes the connection, so that a late answer cannot belong to another request', async () => {
  const stop = new AbortController()
  answer = () => stop.abort()
  expect(await thrownBy(send(SEARCH, stop.signal))).toBeInstanceOf(Error)
  await isClosed(connections[0])
  answer = socket => socket.write(ANSWER)
  expect((await send(SEARCH)).text).toBe('{}')
  expect(connections).toHaveLength(2)
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

const refusedAnswers: readonly (readonly [what: string, send: (socket: Socket) => unknown, says?: string])[] = [
  ['another protocol', socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n\r\n')],
  ['a part', socket => socket.end(`${HEAD}Content-Length: 9\r\n\r\n{"a"`)],
  ['a part of a chunk', socket => socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\n9\r\n{"a"`)],
  ['no chunk', socket => socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`)],
  ['packed', socket => socket.write(`${HEAD}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`), 'compressed'],
  ['too long', socket => pour(socket, `Content-Length: ${97 * MIB}`, 100), 'bytes'],
  [
    'a chunk too long',
    socket => pour(socket, `Transfer-Encoding: chunked\r\n\r\n${(200 * MIB).toString(16)}`, 100),
    'bytes',
  ],
  ['too long without its length', socket => pour(socket, 'Connection: close', 100), 'bytes'],
]
test.each(refusedAnswers)('send: an answer is refused that is %s', async (...[, send, says]) => {
  answer = send
  const thrown = await thrownBy(host.send(SEARCH, never()))
  if (says === undefined) expect(thrown).toBeInstanceOf(NoResponse)
  else expect(String(thrown)).toContain(says)
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

test('connection: a request that is cut off on a reused socket is sent once; a read is sent again by those who ask for its content', async () => {
  const connection = connect({ url: url.origin })
  for (const method of ['POST', 'PUT', 'DELETE'] as const) {
    answer = socket => socket.write(ANSWER)
    await connection.send({ method, path: '/before', body: '{}' })
    answer = socket => socket.destroy()
    const failure = await failureOf(connection.send({ method, path: `/${method}`, body: '{}' }))
    expect([failure.kind, failure.retryable]).toEqual(['unavailable', true])
    expect(requests.filter(head => head.includes(`/${method}`))).toHaveLength(1)
  }
  answer = socket => socket.write(ANSWER)
  await connection.send(SEARCH)
  answer = (socket, n) => (n === 1 ? socket.write(ANSWER) : socket.destroy())
  expect(await requestJson<object>(connection, { what: 'search a', path: '/a/_search', body: '{}' })).toEqual({})
  await connection.close()
})

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

const lines = (...heads: readonly object[]): string =>
  heads.map(head => `${JSON.stringify(head)}\n{"size":0}\n`).join('')

test('requests: GET and the read-only POSTs are reads', () => {
  const all = ['/a,b/_search', '/_search', '/_msearch', '/_mget', '/a/_count', '/a/_terms_enum']
  expect(all.filter(path => !isReading({ method: 'POST', path }))).toEqual([])
  expect(isReading({ method: 'GET', path: '/a' })).toBe(true)
  for (const path of ['/_bulk', '/a/_refresh', '/a/_pit', '/_aliases'])
    expect(isReading({ method: 'POST', path })).toBe(false)
  expect(isReading({ method: 'DELETE', path: '/_search' })).toBe(false)
})

/** The variants of a read, without its method. */
const variants = (read: Omit<Request, 'method'>, nodes: readonly string[]) =>
  preferNodes({ method: 'POST', ...read }, nodes).map(({ method: _, ...each }) => each)

test('copies to read: reads prefer copies on any of the nodes, and other requests choose none', () => {
  for (const path of ['/a,b/_search', '/_mget', '/a/_doc/published']) {
    expect(variants({ path, query: { realtime: 'false' } }, ['n1', 'n2'])).toEqual([
      { path, query: { realtime: 'false', preference: '_prefer_nodes:n1,n2' } },
    ])
    expect(variants({ path }, [])).toEqual([{ path, query: { preference: '_local' } }])
  }
  for (const path of ['/a', '/_search', '/a/_terms_enum', '/_cluster/health'])
    expect(variants({ path }, ['n1'])).toEqual([{ path }])
})

test('copies to read: each of several searches may use any of the nodes; those of certain copies are unchanged, also where all are on one node', () => {
  const prefer = (over: object, ...heads: readonly object[]) =>
    variants({ path: '/_msearch', lines: lines(...heads), ...over }, ['n1']).map(each => each.lines)
  const preference = '_prefer_nodes:n1'
  expect(prefer({}, { index: 'a' }, { index: 'b' })).toEqual([
    lines({ preference, index: 'a' }, { preference, index: 'b' }),
  ])
  for (const node of ['x', 'y']) {
    const heads = [
      { index: 'a', preference: '_only_nodes:x' },
      { index: 'b', preference: `_only_nodes:${node}` },
    ]
    expect(prefer({ isOfNamedCopies: true }, ...heads)).toEqual([lines(...heads)])
  }
})

test('copies to read: searches that must use one copy are tried on one node after the other, and then unchanged', () => {
  const on = (preference: string) => ({
    path: '/_msearch',
    lines: lines(...['a', 'a'].map(index => ({ index, preference }))),
  })
  const tried = ['_only_nodes:n1', '_only_nodes:n2', 'some text'].map(on)
  expect(variants(on('some text'), ['n1', 'n2'])).toEqual(tried)
})
