import { expect, test } from 'bun:test'
import { systemClock } from '#time/clock.ts'
import { createHttpCounts } from './counts.ts'
import type { Handler } from './exchange.ts'
import { JSON_TYPE, textReply } from './reply.ts'
import { respond } from './request.ts'

const kept: Request[] = []
const service = {
  ...{ log: () => undefined, basePath: '', deadlineMs: 5, clock: systemClock },
  defaults: { format: 'envelope', compat: 'none' },
  ...{ counts: createHttpCounts(), isLogged: () => false, clientOf: () => undefined },
  connections: { limitIdle: (request: Request) => void kept.push(request), isOpen: () => true },
} as const

const slowly =
  (...more: readonly number[]): Handler =>
  async (_exchange, _signal, prolong) => {
    if (more.length === 0) prolong(undefined)
    for (const each of more) prolong(each)
    await Bun.sleep(30)
    return textReply(200, { type: JSON_TYPE, text: '{}' }, { headers: {}, form: 'raw' })
  }

test('respond: long work gets the time it requests, on a connection that stays open', async () => {
  const request = new Request('http://127.0.0.1/')
  expect((await respond('test', slowly(), service)(request)).status).toBe(200)
  expect(kept).toEqual([request])
  expect((await respond('test', slowly(1), service)(request)).status).toBe(504)
  expect((await respond('test', slowly(60_000, 1), service)(request)).status).toBe(200)
})
