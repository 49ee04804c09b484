import { afterAll, expect, test } from 'bun:test'
import type { Failure } from '#failure/failure.ts'
import { failureOf } from '#test/support/refusal.ts'
import { until } from '#test/support/wait.ts'
import { openElastic } from '../open-elastic.ts'
import { connect, parseHostUrls } from './connection.ts'
import { requestJson } from './request.ts'

const headers = { 'x-elastic-product': 'Elasticsearch' }

/** A server; a request for which `answer` returns undefined is accepted and never answered. */
function serve(answer: (request: Request) => Response | undefined) {
  const received: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: request => {
      received.push(request.method)
      return answer(request) ?? new Promise<Response>(() => undefined)
    },
  })
  const { host, origin } = server.url
  return { received, host, origin, [Symbol.asyncDispose]: () => server.stop(true) }
}

/**
 * Answers by path: `/404/index_not_found_exception` has that status and that error; other paths are self-explanatory.
 */
const server = serve(request => {
  const [, path = '', type = 'none'] = new URL(request.url).pathname.split('/')
  if (path === 'hang') return undefined
  const product = path === 'other' || type === 'other-server' ? {} : headers
  const status = Number(path) || 200
  const reason = 'this action is granted by the index privileges [read,all]'
  const text = status === 200 ? '{"n":9007199254740993}' : JSON.stringify({ error: { type, reason }, status })
  const half = new ReadableStream({ start: stream => stream.enqueue('{"half":') })
  return new Response(path === 'half' ? half : text, { status, headers: product })
})
const url = server.origin
const requests = () => server.received.length
afterAll(() => server[Symbol.asyncDispose]())

const auth = { username: 'reader', password: 'hunter2' }
/** Long enough for every answer, short for paths without one. */
const timeOf = (path: string) => (['/hang', '/half'].includes(path) ? 100 : 60_000)
async function asked(path: string, options: object = {}): Promise<Failure> {
  const connection = connect({ url, auth, requestTimeoutMs: timeOf(path) })
  const failure = await failureOf(requestJson(connection, { what: 'read balances', method: 'GET', path, ...options }))
  await connection.close()
  expect(JSON.stringify([failure.message, failure.help, failure.details, String(failure.cause)])).not.toContain(
    'hunter2',
  )
  return failure
}

const failures: readonly (readonly [string, Failure['kind'], retryable: boolean, RegExp, RegExp?])[] = [
  ['/401/security_exception', 'unavailable', false, /refused user 'reader'/, /Check the user and password/],
  ['/403/security_exception', 'unavailable', false, /user 'reader' may not read balances: .*privileges \[read,all\]/],
  ['/404/index_not_found_exception', 'unavailable', false, /read balances/, /iostlens indices create/],
  ['/403/cluster_block_exception', 'unavailable', true, /blocks read balances/, /full disk/],
  ['/429/es_rejected_execution_exception', 'unavailable', true, /now \(429\)/],
  ['/503/busy', 'unavailable', true, /now \(503\)/],
  ['/500/null_pointer_exception', 'unavailable', true, /now \(500\)/],
  ['/400/parsing_exception', 'unavailable', false, /refused to read balances \(400\)/, /indices check/],
  ['/400/index_closed_exception', 'unavailable', true, /is closed \(read balances\)/, /_open/],
  ['/404/other', 'unavailable', false, /refused to read balances \(404\)/, /indices check/],
  ['/other', 'usage', false, /is not Elasticsearch/, /--store/],
  ['/404/other-server', 'usage', false, /is not Elasticsearch/, /--store/],
  ['/400/other-server', 'usage', false, /is not Elasticsearch/, /--store/],
  ['/503/other-server', 'unavailable', true, /now \(503\)/],
  ['/hang', 'unavailable', true, /did not respond to GET \/hang within 100 ms/],
  ['/half', 'unavailable', true, /did not respond to GET \/half within 100 ms/],
]
test.each(failures)('ask: %s is %s', async (...[path, kind, retryable, message, help]) => {
  const failure = await asked(path)
  expect(failure).toMatchObject({ kind, retryable, message: expect.stringMatching(message) })
  if (help !== undefined) expect(failure.help).toMatch(help)
})

test('send: the client waits for a server that no longer answers as Elasticsearch: a 404 of a proxy says nothing about a document', async () => {
  const connection = connect({ url })
  await connection.send({ method: 'GET', path: '/200' })
  for (const path of ['/other', '/404/other-server', '/400/other-server'])
    expect(await failureOf(connection.send({ method: 'GET', path }))).toMatchObject({
      kind: 'unavailable',
      retryable: true,
    })
  await connection.close()
})

test('ask: temporary errors are retried, others are not; an aborted signal is a deadline', async () => {
  const counts: number[] = []
  const count = async (path: string, signal?: AbortSignal) => {
    const before = requests()
    const { kind } = await asked(path, { signal })
    expect(kind).toBe(signal === undefined ? 'unavailable' : 'deadline')
    counts.push(requests() - before)
  }
  for (const path of ['/503/busy', '/429/x', '/400/x', '/401/x']) await count(path)
  await count('/hang', AbortSignal.timeout(10))
  await count('/200', AbortSignal.abort())
  expect(counts).toEqual([3, 3, 1, 1, 1, 0])
})

test('close: a hanging request ends at once and is not sent again', async () => {
  const connection = connect({ url })
  const before = requests()
  const failure = failureOf(requestJson(connection, { what: 'wait', method: 'GET', path: '/hang' }))
  await until(() => requests() !== before)
  await connection.close()
  expect(await failure).toMatchObject({ retryable: false, message: expect.stringContaining('was closed') })
  expect(requests() - before).toBe(1)
})

const wrong: readonly (readonly [Parameters<typeof openElastic>[0], string])[] = [
  [{ url: 'http://u:hunter2@127.0.0.1:1', prefix: 'p' }, 'contains a user or password'],
  [{ url: '127.0.0.1:9200', prefix: 'p' }, 'is not an Elasticsearch URL'],
  [{ url: 'http://127.0.0.1:1', prefix: 'P*' }, "The prefix 'P*'"],
  [
    { url: 'https://127.0.0.1:1', prefix: 'p', caFile: '/nowhere.pem' },
    'The CA file /nowhere.pem (--store-ca) cannot be read',
  ],
  [{ url: 'https://127.0.0.1:1', prefix: 'p', caFile: import.meta.path }, '(--store-ca) cannot be read'],
]
test.each(wrong)('openElastic: an invalid setting is refused, %j', async (options, message) => {
  const failure = await failureOf(Promise.resolve(options).then(openElastic))
  expect([failure.kind, failure.message]).toEqual(['usage', expect.stringContaining(message)])
  expect(failure.message).not.toContain('hunter2')
})

test('several hosts: there is one URL for each host, all with the path; other texts are refused', async () => {
  expect(parseHostUrls('https://a:9200,b,[::1]:1/behind/proxy').map(String)).toEqual([
    'https://a:9200/behind/proxy',
    'https://b/behind/proxy',
    'https://[::1]:1/behind/proxy',
  ])
  for (const text of ['a:9200', 'ftp://a', 'http://', 'http://a,,b', 'http://a,b:x', 'http://u:hunter2,x@a']) {
    const failure = await failureOf(Promise.resolve(text).then(parseHostUrls))
    expect([text, failure.kind, failure.message]).toEqual([text, 'usage', expect.not.stringContaining('hunter2')])
  }
})

const SEARCH = { method: 'POST', path: '/a/_search', body: '{}' } as const
/** No timeout of ours ends a wait: the connection avoids what hangs, or the test never ends. */
const NEVER = { requestTimeoutMs: 3_600_000 }

test('send: a late read is sent again without each host in turn, until the copies that delay it are avoided', async () => {
  const serveNode = (name: string) =>
    serve(({ method, url }) => {
      const isDelayed =
        method === 'POST' && /preference=_prefer_nodes%3A(.*)/.exec(url)?.[1]?.includes('third') !== false
      return isDelayed ? undefined : Response.json({ nodes: { [name]: {} } }, { headers })
    })
  await using first = serveNode('first')
  await using second = serveNode('second')
  await using third = serveNode('third')
  const hosts = [first, second, third]
  const connection = connect({ url: `http://${hosts.map(({ host }) => host).join(',')}`, ...NEVER })
  // The nodes are found once a request is late.
  const stop = new AbortController()
  const late = failureOf(connection.send({ ...SEARCH, signal: stop.signal }))
  await until(() => hosts.every(({ received }) => received.includes('GET')))
  stop.abort()
  expect((await late).kind).toBe('deadline')
  expect((await connection.send(SEARCH)).status).toBe(200)
  await connection.close()
})

test('send: at most twenty extra requests are under way at once', async () => {
  await using one = serve(() => undefined)
  await using other = serve(() => undefined)
  const connection = connect({ url: `http://${one.host},${other.host}`, ...NEVER, maxSockets: 100 })
  const count = (method: string) =>
    [one, other].flatMap(({ received }) => received).filter(each => each === method).length
  const all = Promise.allSettled(Array.from({ length: 50 }, () => connection.send(SEARCH)))
  await until(() => count('POST') >= 70)
  // Each late read is considered again before the next probes.
  const probes = count('GET')
  await until(() => count('GET') >= probes + 2)
  expect(count('POST')).toBe(70)
  await connection.close()
  await all
})

test('send: while one host hangs every read is answered; a write to it fails as unanswered and is not repeated, and the next one uses another host', async () => {
  await using hung = serve(() => undefined)
  await using good = serve(() => Response.json({}, { headers }))
  const settings = { url: `http://${hung.host},${good.host}`, ...NEVER }
  const reading = connect(settings)
  const all = await Promise.all(Array.from({ length: 10 }, () => reading.send(SEARCH)))
  expect(all.map(({ status }) => status)).toEqual(new Array(10).fill(200))
  await reading.close()
  const connection = connect(settings)
  const write = () => connection.send({ method: 'PUT', path: '/a/_doc/1', body: '{}' })
  const both = await Promise.allSettled([write(), write()])
  const failed = both.flatMap(each => (each.status === 'rejected' ? [each.reason] : []))
  const message = expect.stringContaining('it does not answer, and other servers do')
  expect(failed).toMatchObject([{ kind: 'unavailable', retryable: true, message }])
  for (let again = 0; again < 4; again++) expect((await write()).status).toBe(200)
  expect(hung.received.filter(method => method === 'PUT')).toHaveLength(1)
  await connection.close()
})

test('keys are read while every other request hangs, whatever their number', async () => {
  await using server = serve(request => {
    const { pathname } = new URL(request.url)
    if (pathname === '/x-keys/_search') return Response.json({ hits: { hits: [] } }, { headers })
    // The list of keys also reads which index of keys is the known one.
    if (pathname === '/x-meta/_doc/published') return Response.json({ found: false }, { headers, status: 404 })
    return undefined
  })
  // None of what hangs gives its place back by itself.
  const store = openElastic({ url: server.origin, prefix: 'x', ...NEVER })
  const others = Promise.allSettled(Array.from({ length: 64 }, () => store.identity()))
  await until(() => server.received.length === 32)
  expect(await store.keys.list(AbortSignal.timeout(600_000))).toEqual([])
  await store.close()
  await others
})
