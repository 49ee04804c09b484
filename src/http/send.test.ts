import { expect, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { createHttpCounts } from './counts.ts'
import { parse } from './exchange.ts'
import { createStream } from './export/stream.ts'
import { JSON_TYPE, PIECE_BYTES, textReply } from './reply.ts'
import { sampling, send } from './send.ts'

test('sampling: the first of every N is sampled', () => {
  const isLogged = sampling(3)
  expect(Array.from({ length: 7 }, isLogged)).toEqual([true, false, false, true, false, false, true])
  const all = sampling(1)
  expect(Array.from({ length: 3 }, all)).toEqual([true, true, true])
  expect(Array.from({ length: 3 }, sampling(0))).toEqual([false, false, false])
})

/** A service whose connections note the idle timeouts that are set, and are open until `close`. */
function serving() {
  const clock = handClock(0)
  const limited: unknown[] = []
  let isOpen = true
  const service = {
    log: () => undefined,
    defaults: { format: 'envelope', compat: 'none' },
    basePath: '',
    clock,
    counts: createHttpCounts(),
    isLogged: () => false,
    clientOf: () => undefined,
    connections: {
      limitIdle: (...limit: readonly unknown[]) => void limited.push(limit),
      isOpen: () => isOpen,
    },
  } as const
  return {
    clock,
    limited,
    service,
    close: () => {
      isOpen = false
    },
  }
}

test('send: a streamed body may be silent for longer than the idle time of connections', () => {
  const { clock, limited, service } = serving()
  const request = new Request('http://127.0.0.1/api/')
  const pieces = async function* (): AsyncGenerator<Uint8Array, void, void> {
    yield new Uint8Array(1)
  }
  const body = createStream(pieces(), { client: request.signal, clock, stallMs: 60_000, free: () => undefined })
  const reply = { status: 200, type: JSON_TYPE, headers: {}, form: 'raw', body } as const
  send(parse(request, 'api', service), reply, service)
  expect(limited).toEqual([[request, 0]])
  body.cutOff('gone')
})

test.each([
  [1_500, 2],
  [600_000, 255],
])('send: what a body of known length holds is freed when it was sent; idle after %d ms', async (stallMs, seconds) => {
  const { clock, limited, service, close } = serving()
  const request = new Request('http://127.0.0.1/api/')
  let freed = 0
  const free = (): void => {
    freed += 1
  }
  send(
    parse(request, 'api', service),
    { ...textReply(200, { type: JSON_TYPE, text: 'x'.repeat(PIECE_BYTES + 1) }), held: { stallMs, free } },
    service,
  )
  expect(limited).toEqual([[request, seconds]])
  await clock.pass(60_000)
  expect(freed).toBe(0)
  close()
  await clock.pass(60_000)
  expect(freed).toBe(1)
})

test('send: a short body of known length holds nothing, so that one small export can follow another', () => {
  const { service } = serving()
  let freed = 0
  const free = (): void => {
    freed += 1
  }
  const reply = textReply(200, { type: JSON_TYPE, text: '{}' })
  send(
    parse(new Request('http://127.0.0.1/api/'), 'api', service),
    { ...reply, held: { stallMs: 1_000, free } },
    service,
  )
  expect(freed).toBe(1)
})
