import { expect, test } from 'bun:test'
import { abandonWhenStopped } from './stop.ts'

const forever = new Promise<number>(() => {})

test('abandonWhenStopped: work that ends by itself is awaited, with or without a stop', async () => {
  const stop = new AbortController()
  expect(await abandonWhenStopped(Promise.resolve(3), stop.signal, 60_000)).toBe(3)
  const work = Promise.withResolvers<number>()
  const waiting = abandonWhenStopped(work.promise, stop.signal, 60_000)
  stop.abort()
  work.resolve(4)
  expect(await waiting).toBe(4)
})

test('abandonWhenStopped: work that does not end after the stop is abandoned', async () => {
  const stop = new AbortController()
  const waiting = abandonWhenStopped(forever, stop.signal, 1)
  stop.abort()
  await expect(waiting).rejects.toMatchObject({
    kind: 'deadline',
    message: expect.stringContaining('Stopped'),
  })
})
