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

/** A request, and a service whose connections note the idle timeouts that are set, and are open until `close`. */
function serving() {
  const clock = handClock(0)
  const limited: unknown[] = []
  const state = { isOpen: true, freed: 0 }
  const service = {
    log: () => undefined,
    basePath: '',
    clock,
    counts: createHttpCounts(),
    isLogged: () => false,
    clientOf: () => undefined,
    defaults: { format: 'envelope', compat: 'none' },
    connections: {
      limitIdle: (...limit: readonly unknown[]) => void limited.push(limit),
      isOpen: () => state.isOpen,
    },
  } as const
  const request = new Request('http://127.0.0.1/api/')
  const sendReply = (reply: Parameters<typeof send>[1]) => send(parse(request, 'api', service), reply, service)
  const sendHeld = (text: string, stallMs: number) => {
    const free = (): void => {
      state.freed += 1
    }
    return sendReply({ ...textReply(200, { type: JSON_TYPE, text }), held: { stallMs, free } })
  }
  return { clock, limited, state, request, sendReply, sendHeld }
}

test('send: a streamed body may be silent for longer than the idle time of connections', () => {
  const { clock, limited, request, sendReply } = serving()
  const pieces = async function* (): AsyncGenerator<Uint8Array, void, void> {
    yield new Uint8Array(1)
  }
  const body = createStream(pieces(), { client: request.signal, clock, stallMs: 60_000, free: () => undefined })
  sendReply({ status: 200, type: JSON_TYPE, headers: {}, form: 'raw', body })
  expect(limited).toEqual([[request, 0]])
  body.cutOff('gone')
})

test.each([
  [1_500, 2],
  [600_000, 255],
])('send: what a body of known length holds is freed when it was sent; idle after %d ms', async (stallMs, seconds) => {
  const { clock, limited, state, request, sendHeld } = serving()
  sendHeld('x'.repeat(PIECE_BYTES + 1), stallMs)
  expect(limited).toEqual([[request, seconds]])
  await clock.pass(60_000)
  expect(state.freed).toBe(0)
  state.isOpen = false
  await clock.pass(60_000)
  expect(state.freed).toBe(1)
})

test('send: a short body of known length holds nothing, so that one small export can follow another', () => {
  const { state, sendHeld } = serving()
  sendHeld('{}', 1_000)
  expect(state.freed).toBe(1)
})
