import { afterAll, expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import type { Store } from '#store/port.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { soon, until } from '#test/support/wait.ts'
import { type Ask, askCase, httpCases } from './cases.ts'

/** Refused requests, within the process and over HTTP, and what needs a real connection: hosts, methods, lengths of HEAD. */

/** A service whose store never answers. `onRead` gets the signal of each read. */
function serve(onRead: (signal: AbortSignal | undefined) => void = () => {}): Service {
  const read: Store['read'] = (_, { signal } = {}) => {
    onRead(signal)
    return new Promise(() => {})
  }
  const served = serviceOn({ name: 'hangs', read } as unknown as Store)
  served.app.listen({ hostname: '127.0.0.1', port: 0 })
  return served
}

const service = serve()
const OVERVIEW = `GET /api/base/get-overview?apikey=${service.key} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
afterAll(() => service.app.stop(true))

/** Sends a text. `closed`: all that came until the service closed the connection. */
async function connect(text: string, { app }: Service = service) {
  const closed = Promise.withResolvers<string>()
  let got = ''
  const data = (_: unknown, bytes: Buffer) => {
    got += bytes.toString()
  }
  const handlers = { data, close: () => closed.resolve(got), error: (_: unknown, error: Error) => closed.reject(error) }
  const socket = await Bun.connect({ hostname: '127.0.0.1', port: app.server?.port ?? 0, socket: handlers })
  socket.write(text)
  return { socket, closed: closed.promise }
}

/** Status line and body of a request sent character by character. */
async function send(line: string, host = 'Host: 127.0.0.1'): Promise<readonly [status: string, body: string]> {
  const { closed } = await connect(`${line} HTTP/1.1\r\n${host === '' ? '' : `${host}\r\n`}Connection: close\r\n\r\n`)
  const [head = '', body = ''] = (await closed).split('\r\n\r\n')
  return [head.split('\r\n')[0]?.slice('HTTP/1.1 '.length) ?? '', body]
}

const UP = '{"status":"ok","version":"0.0.0-test"}'

test('a path is found with any Host header, and a HEAD has no body and the length of its GET', async () => {
  for (const host of ['a', 'abc', 'a b', '[::1', '', 'localhost:1'])
    expect(await send('GET /health', `Host: ${host}`)).toEqual(['200 OK', UP])
  expect(await send('GET http://elsewhere.example/health')).toEqual(['200 OK', UP])
  for (const host of ['a', 'localhost']) {
    const { closed } = await connect(`HEAD /health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    const text = await closed
    expect(text.toLowerCase()).toContain(`\r\ncontent-length: ${UP.length}\r\n`)
    expect(text).toEndWith('\r\n\r\n')
  }
})

test('every method that Bun knows is 405, and it closes the connection for any other', async () => {
  for (const method of ['TRACE', 'CONNECT', 'PROPFIND']) {
    const [status, body] = await send(`${method} /health`)
    expect(status).toBe('405 Method Not Allowed')
    expect(body).toStartWith(`{"code":4050,"message":"Method ${method} is not supported; use GET."`)
  }
  for (const method of ['BREW', 'get', 'FOO']) expect(await send(`${method} /health`)).toEqual(['', ''])
})

test('a body of any length is 405, and the rest of it closes the connection', async () => {
  for (const body of ['Content-Length: 65537', 'Content-Length: 9000000000', 'Transfer-Encoding: chunked']) {
    const { closed } = await connect(`POST /api/ HTTP/1.1\r\nHost: localhost\r\n${body}\r\n\r\n`)
    const text = await closed
    expect(text).toStartWith('HTTP/1.1 405 Method Not Allowed\r\n')
    expect(text).toContain('"message":"Method POST is not supported; use GET."')
  }
})

test('Bun closes the connection without any answer for requests sent before the first answer', async () => {
  const { closed } = await connect(OVERVIEW.repeat(2))
  expect(await closed).toBe('')
})

test('headers beyond 16 KiB are answered 431 by Bun', async () => {
  expect(await send(`GET /api/?a=${'a'.repeat(17_000)}`)).toEqual(['431 Request Header Fields Too Large', ''])
})

test('a client that disconnects ends its request', async () => {
  // A separate service: requests of other tests that were cut off may reach the store, too.
  const asked = Promise.withResolvers<AbortSignal | undefined>()
  const own = serve(asked.resolve)
  const { socket } = await connect(OVERVIEW.replace(service.key, own.key), own)
  const signal = await soon('the read of the request', asked.promise)
  expect(signal?.aborted).toBe(false)
  socket.terminate()
  await until(() => signal?.aborted === true)
  await own.app.stop(true)
})

const cases = await httpCases()
const now = Date.UTC(2026, 10, 21)
const plan = { perSecond: 9, perDay: 9 }

const revoked = createKey('revoked', plan, { now })
const expired = createKey('expired', plan, { now: 0, expires: Date.UTC(2026, 0, 1) })
const stored = [{ ...revoked.stored, revoked: now }, expired.stored]
const recorded = serviceOn(await loadedStore(), { keys: stored })
const keys = { key: recorded.key, revoked: revoked.key, expired: expired.key }
recorded.app.listen({ hostname: '127.0.0.1', port: 0 })
afterAll(() => recorded.app.stop(true))

const ways: readonly (readonly [name: string, ask: Ask])[] = [
  ['asked within the process', recorded.ask],
  ['asked over HTTP', (path, init) => fetch(`http://127.0.0.1:${recorded.app.server?.port}${path}`, init)],
]
for (const [name, way] of ways)
  test.each(cases.map(one => [one.name, one] as const))(`bad requests, ${name}: %s`, async (_, one) => {
    expect(await askCase(one, way, keys)).toEqual(one)
  })

test('http-cases: there are at least a hundred, each with its own name', () => {
  expect(cases.length).toBeGreaterThanOrEqual(100)
  expect(new Set(cases.map(one => one.name)).size).toBe(cases.length)
})
