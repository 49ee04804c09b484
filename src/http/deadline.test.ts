import { expect, test } from 'bun:test'
import { ClientGone, startDeadline } from './deadline.ts'

const never = new AbortController().signal

test('startDeadline: the signal aborts after the given milliseconds', async () => {
  const deadline = startDeadline({ ms: 1, client: never })
  await expect(deadline.over).rejects.toMatchObject({
    kind: 'deadline',
    message: 'The request took longer than 1 ms.',
  })
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
  await Bun.sleep(10)
  expect(deadline.signal.aborted).toBe(false)
  other()
  await expect(deadline.over).rejects.toMatchObject({ message: 'The request took longer than 1 ms.' })
  const ended = startDeadline({ ms: 1, client: never })
  const restore = ended.prolong(undefined)
  ended.end()
  restore()
  await Bun.sleep(10)
  expect(ended.signal.aborted).toBe(false)
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
