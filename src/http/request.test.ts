import { expect, test } from 'bun:test'
import { systemClock } from '#time/clock.ts'
import { createHttpCounts } from './counts.ts'
import { ClientGone, type Handler } from './exchange.ts'
import { JSON_TYPE, textReply } from './reply.ts'
import { respond, startDeadline } from './request.ts'

const never = new AbortController().signal

test('startDeadline: the signal aborts after the given milliseconds', async () => {
  const deadline = startDeadline({ ms: 1, client: never })
  const late = { kind: 'deadline', message: 'The request took longer than 1 ms.' }
  await expect(deadline.over).rejects.toMatchObject(late)
  expect(deadline.signal.aborted).toBe(true)
})

test('startDeadline: the signal aborts when the client leaves, before or meanwhile', async () => {
  const client = new AbortController()
  const deadline = startDeadline({ ms: 60_000, client: client.signal })
  client.abort()
  await expect(deadline.over).rejects.toBeInstanceOf(ClientGone)
  const late = startDeadline({ ms: 60_000, client: client.signal })
  await expect(late.over).rejects.toBeInstanceOf(ClientGone)
  expect(late.signal.aborted).toBe(true)
  for (const each of [deadline, late]) each.end()
})

test('startDeadline: the service can abort it until the answer is complete', () => {
  const running: Parameters<typeof startDeadline>[0]['running'] = new Set()
  const deadline = startDeadline({ ms: 60_000, client: never, running })
  expect(running.size).toBe(1)
  deadline.end()
  expect(running.size).toBe(0)
})

test('startDeadline: after all longer work is done, the rest has the usual time', async () => {
  const deadline = startDeadline({ ms: 1, client: never })
  const [one, other] = [deadline.prolong(undefined), deadline.prolong(60_000)]
  one()
  one()
  const ended = startDeadline({ ms: 1, client: never })
  const restore = ended.prolong(undefined)
  ended.end()
  restore()
  await Bun.sleep(10)
  expect([deadline.signal.aborted, ended.signal.aborted]).toEqual([false, false])
  other()
  await expect(deadline.over).rejects.toMatchObject({ message: 'The request took longer than 1 ms.' })
})

test('startDeadline: it can be extended, and never gets shorter', async () => {
  const deadline = startDeadline({ ms: 5, client: never })
  deadline.prolong(undefined)
  deadline.prolong(1)
  await Bun.sleep(20)
  expect(deadline.signal.aborted).toBe(false)
  deadline.end()
  const other = startDeadline({ ms: 1, client: never })
  other.prolong(2)
  await expect(other.over).rejects.toMatchObject({ message: 'The request took longer than 3 ms.' })
})

test('respond: long work gets the time it requests, on a connection that stays open', async () => {
  const kept: Request[] = []
  const service = {
    log: () => undefined,
    basePath: '',
    deadlineMs: 5,
    clock: systemClock,
    defaults: { format: 'envelope', compat: 'none' },
    counts: createHttpCounts(),
    isLogged: () => false,
    clientOf: () => undefined,
    connections: { limitIdle: (request: Request) => void kept.push(request), isOpen: () => true },
  } as const
  const request = new Request('http://127.0.0.1/')
  const statusAfter = async (...times: readonly (number | undefined)[]): Promise<number> => {
    const slowly: Handler = async (_exchange, _signal, prolong) => {
      for (const each of times) prolong(each)
      await Bun.sleep(30)
      return textReply(200, { type: JSON_TYPE, text: '{}' }, { headers: {}, form: 'raw' })
    }
    return (await respond('test', slowly, service)(request)).status
  }
  expect([await statusAfter(undefined), kept]).toEqual([200, [request]])
  expect([await statusAfter(1), await statusAfter(60_000, 1)]).toEqual([504, 200])
})
