import { expect, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { createHttpCounts } from './counts.ts'
import { parse } from './exchange.ts'
import { JSON_TYPE, textReply } from './reply.ts'
import { sampling, send } from './send.ts'

test('sampling: the first of every N is sampled', () => {
  const isLogged = sampling(3)
  expect(Array.from({ length: 7 }, isLogged)).toEqual([true, false, false, true, false, false, true])
  const all = sampling(1)
  expect(Array.from({ length: 3 }, all)).toEqual([true, true, true])
  expect(Array.from({ length: 3 }, sampling(0))).toEqual([false, false, false])
})

test.each([
  [1_500, 2],
  [600_000, 255],
])('send: what a body of known length holds is freed when it was sent; idle after %d ms', async (stallMs, seconds) => {
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
  const request = new Request('http://127.0.0.1/api/')
  let freed = 0
  const free = (): void => {
    freed += 1
  }
  send(
    parse(request, 'api', service),
    { ...textReply(200, { type: JSON_TYPE, text: '{}' }), held: { stallMs, free } },
    service,
  )
  expect(limited).toEqual([[request, seconds]])
  await clock.pass(60_000)
  expect(freed).toBe(0)
  isOpen = false
  await clock.pass(60_000)
  expect(freed).toBe(1)
})
