import { afterEach, expect, test } from 'bun:test'
import { failureOf } from '#test/store/suite/harness.ts'
import { connect } from './connection.ts'

/** No timeout of ours ends a wait: the connection avoids the hung host, or the test never ends. */
const NEVER_MS = 3_600_000

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A server that answers every request, or accepts every request and never answers. */
function serve(hangs: boolean) {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: request => {
      asked.push(request.method)
      if (hangs) return new Promise<Response>(() => undefined)
      return new Response('{}', { headers: { 'x-elastic-product': 'Elasticsearch' } })
    },
  })
  ends.push(() => server.stop(true))
  return { asked, host: server.url.host }
}

function open() {
  const [hung, good] = [serve(true), serve(false)]
  const connection = connect({ url: `http://${hung.host},${good.host}`, requestTimeoutMs: NEVER_MS })
  ends.unshift(() => connection.close())
  return { hung, connection }
}

test('send: every read is answered while one host hangs', async () => {
  const { connection } = open()
  const all = await Promise.all(
    Array.from({ length: 10 }, () => connection.send({ method: 'POST', path: '/a/_search', body: '{}' })),
  )
  expect(all.map(({ status }) => status)).toEqual(new Array(10).fill(200))
})

test('send: a write to a hanging host fails as unanswered and is not repeated; the next one uses another host', async () => {
  const { hung, connection } = open()
  const write = () => connection.send({ method: 'PUT', path: '/a/_doc/1', body: '{}' })
  const [failed] = (await Promise.allSettled([write(), write()])).filter(
    ({ status }) => status === 'rejected',
  ) as PromiseRejectedResult[]
  const failure = await failureOf(Promise.reject(failed?.reason))
  expect([failure.kind, failure.retryable]).toEqual(['unavailable', true])
  expect(failure.message).toContain('it does not answer, and other servers do')
  for (let again = 0; again < 4; again++) expect((await write()).status).toBe(200)
  expect(hung.asked.filter(method => method === 'PUT')).toHaveLength(1)
})
