import { expect, test } from 'bun:test'
import { createNode } from '#node/archive-node.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'

const MIB = 1024 * 1024

/** A server whose answers `answer` makes from the number of the request, from 1. */
function serverOf(answer: (request: number) => Response | Promise<Response>) {
  let requests = 0
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      requests += 1
      return answer(requests)
    },
  })
}

test('get: the memory of a failed answer is released when the caller leaves while another node is asked', async () => {
  const asked = Promise.withResolvers<void>()
  const failing = serverOf(request => new Response(request === 1 ? new Uint8Array(MIB) : 'failed', { status: 500 }))
  const slow = serverOf(request => {
    if (request > 1) return new Response(new Uint8Array(MIB))
    asked.resolve()
    return new Promise<Response>(() => undefined)
  })
  const urls = [failing, slow].map(({ url }) => String(url).replace(/\/$/, ''))
  // Room for one answer of this size.
  const node = createNode({ urls, maxHeldBytes: MIB, clock: handClock() })
  try {
    const leaving = new AbortController()
    const left = node.get('/getChainInfo', { signal: leaving.signal })
    await asked.promise
    leaving.abort('left')
    await expect(left).rejects.toMatchObject({ kind: 'deadline' })
    const answer = await node.get('/getChainInfo')
    expect([answer.status, answer.body.byteLength]).toEqual([200, MIB])
    answer.release()
  } finally {
    node.close()
    await Promise.all([failing.stop(true), slow.stop(true)])
  }
})

test('get: with 192 requests in progress, a slow one is not sent to a second node', async () => {
  const [hung, second] = [serverOf(() => new Promise<Response>(() => undefined)), serverOf(() => new Response('{}'))]
  const urls = [hung, second].map(({ url }) => String(url).replace(/\/$/, ''))
  const clock = handClock()
  const node = createNode({ urls, clock })
  try {
    const leaving = new AbortController()
    const asked = Array.from({ length: 200 }, () => node.get('/getChainInfo', { signal: leaving.signal }))
    const ended = Promise.allSettled(asked)
    // The first 191 are to be sent again after this time.
    await clock.awaited(700, 191)
    leaving.abort('left')
    await ended
  } finally {
    node.close()
    await Promise.all([hung.stop(true), second.stop(true)])
  }
})
