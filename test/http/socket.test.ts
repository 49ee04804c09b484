import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Store } from '#store/port.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { soon, until } from '#test/support/wait.ts'

/** Behaviour that needs a real connection: unusual hosts and methods, lengths of HEAD, clients that disconnect. */

/** A service whose store never answers. `onRead` gets the signal of each read. */
function serve(onRead: (signal: AbortSignal | undefined) => void = () => {}): Service {
  const read = (_work: unknown, options?: { signal?: AbortSignal }) => {
    onRead(options?.signal)
    return new Promise(() => {})
  }
  const served = serviceOn({ name: 'hangs', read } as unknown as Store)
  served.app.listen({ hostname: '127.0.0.1', port: 0 })
  return served
}

let service: Service
beforeAll(() => {
  service = serve()
})
afterAll(() => service.app.stop(true))

async function connect(text: string, { app }: Service = service) {
  const closed = Promise.withResolvers<string>()
  let got = ''
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: app.server?.port ?? 0,
    socket: {
      data: (_socket, bytes) => {
        got += bytes.toString()
      },
      close: () => closed.resolve(got),
      error: (_socket, error) => closed.reject(error),
    },
  })
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
  const one = `GET /api/?apikey=${service.key}&module=base&action=get-overview HTTP/1.1\r\nHost: localhost\r\n\r\n`
  const { closed } = await connect(`${one}${one}`)
  expect(await closed).toBe('')
})

test('headers beyond 16 KiB are answered 431 by Bun', async () => {
  expect(await send(`GET /api/?a=${'a'.repeat(17_000)}`)).toEqual(['431 Request Header Fields Too Large', ''])
})

test('a client that disconnects ends its request', async () => {
  // A separate service: requests of other tests that were cut off may reach the store, too.
  const asked = Promise.withResolvers<AbortSignal | undefined>()
  const own = serve(asked.resolve)
  try {
    const { socket } = await connect(
      `GET /api/?apikey=${own.key}&module=base&action=get-overview HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
      own,
    )
    const signal = await soon('the read of the request', asked.promise)
    expect(signal?.aborted).toBe(false)
    socket.terminate()
    await until(() => signal?.aborted === true)
  } finally {
    await own.app.stop(true)
  }
})
