import { expect, test } from 'bun:test'
import { ClientGone, withDeadline } from './deadline.ts'

const never = new AbortController().signal
const hang = () => new Promise<never>(() => {})

test('withDeadline: gives what the work gives', async () => {
  expect(await withDeadline(async () => 7, { ms: 60_000, client: never })).toBe(7)
  await expect(
    withDeadline(() => Promise.reject(new Error('x')), { ms: 60_000, client: never }),
  ).rejects.toThrow('x')
})

test('withDeadline: stops waiting and tells the work, though it does not listen', async () => {
  let seen: AbortSignal | undefined
  const work = (signal: AbortSignal) => {
    seen = signal
    return hang()
  }
  await expect(withDeadline(work, { ms: 1, client: never })).rejects.toMatchObject({
    kind: 'deadline',
    message: 'The request took longer than 1 ms.',
  })
  expect(seen?.aborted).toBe(true)
})

test('withDeadline: ends when the client goes, before or while the work runs', async () => {
  const client = new AbortController()
  const running = withDeadline(hang, { ms: 60_000, client: client.signal })
  client.abort()
  await expect(running).rejects.toBeInstanceOf(ClientGone)
  await expect(withDeadline(hang, { ms: 60_000, client: client.signal })).rejects.toBeInstanceOf(ClientGone)
})
