import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { failureOf } from '#test/store/suite/harness.ts'
import { connect } from './connection.ts'
import type { ElasticConnection, Request } from './request.ts'

const ANSWER =
  'HTTP/1.1 200 OK\r\nx-elastic-product: Elasticsearch\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}'

/** Heads of the received requests, and the maximum number of open requests. */
const heads: string[] = []
let open = 0
let mostOpen = 0
/** The fate of a socket's `n`th request (from 1). */
let fateOf: (n: number) => 'answer' | 'cut' | 'hold' = () => 'answer'
/** Functions that send the answers held back. */
const held: (() => void)[] = []
/** Called for each request that is held back. */
let onHeld: () => void = () => {}

/** Time within which a forbidden request would arrive. */
const GRACE_MS = 20
function answerHeld(): void {
  setTimeout(() => {
    for (const answer of held.splice(0)) answer()
  }, GRACE_MS)
}

let server: Server
let connection: ElasticConnection
beforeAll(async () => {
  server = createServer(socket => {
    let count = 0
    let text = ''
    socket.on('error', () => {})
    socket.on('data', data => {
      text += data
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (end === -1 || text.length < end + 4 + length) return
      heads.push(text.slice(0, end))
      text = ''
      open++
      mostOpen = Math.max(mostOpen, open)
      const fate = fateOf(++count)
      const answer = () => {
        open--
        socket.write(ANSWER)
      }
      if (fate === 'answer') return answer()
      if (fate === 'hold') {
        held.push(answer)
        return onHeld()
      }
      open--
      return socket.destroy()
    })
  })
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
})
afterAll(() => {
  server.close()
})
beforeEach(() => {
  heads.length = 0
  mostOpen = 0
  fateOf = () => 'answer'
  onHeld = () => {}
  const { port } = server.address() as AddressInfo
  connection = connect({ url: `http://127.0.0.1:${port}`, maxSockets: 3 })
})

const changes: readonly Request[] = [
  { method: 'POST', path: '/change', body: '{}' },
  { method: 'POST', path: '/change', lines: '{}\n' },
  { method: 'POST', path: '/change' },
  { method: 'PUT', path: '/change', body: '{}' },
  { method: 'DELETE', path: '/change' },
]
for (const change of changes)
  test(`send: a ${change.method} that is cut off on a reused socket is sent once`, async () => {
    await connection.send({ method: change.method, path: '/before', body: '{}' })
    fateOf = () => 'cut'
    const failure = await failureOf(connection.send(change))
    expect([failure.kind, failure.retryable]).toEqual(['unavailable', true])
    expect(heads.filter(head => head.includes('/change'))).toHaveLength(1)
    await connection.close()
  })

test('send: sockets are reused, and their number is limited', async () => {
  fateOf = () => 'hold'
  onHeld = () => {
    if (held.length === 3 || heads.length === 10) answerHeld()
  }
  await Promise.all(
    Array.from({ length: 10 }, (_, n) => connection.send({ method: 'POST', path: `/${n}`, body: '{}' })),
  )
  expect([heads.length, mostOpen]).toEqual([10, 3])
  await connection.close()
})

test('send: a request that is aborted while it waits for a socket frees its slot', async () => {
  fateOf = () => 'hold'
  onHeld = answerHeld
  const stop = new AbortController()
  const asked = Array.from({ length: 9 }, (_, n) =>
    connection.send({
      method: 'POST',
      path: `/${n}`,
      body: '{}',
      ...(n % 2 === 0 ? {} : { signal: stop.signal }),
    }),
  )
  const settled = Promise.allSettled(asked)
  stop.abort()
  expect((await settled).map(({ status }) => status === 'fulfilled')).toEqual(
    Array.from({ length: 9 }, (_, n) => n % 2 === 0),
  )
  await connection.close()
})

test('send: proxies in the environment are ignored, and no compression is requested', async () => {
  const proxy = Bun.serve({ port: 0, fetch: () => new Response('', { status: 500 }) })
  const before = process.env['HTTP_PROXY']
  process.env['HTTP_PROXY'] = proxy.url.origin
  try {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
      const body = method === 'GET' ? {} : { body: '{}' }
      const { status, text } = await connection.send({ method, path: '/', ...body })
      expect({ status, text }).toEqual({ status: 200, text: '{}' })
    }
  } finally {
    if (before === undefined) delete process.env['HTTP_PROXY']
    else process.env['HTTP_PROXY'] = before
    await proxy.stop(true)
  }
  expect(heads).toHaveLength(4)
  expect(heads.filter(head => /accept-encoding: .*gzip/i.test(head))).toEqual([])
  await connection.close()
})
