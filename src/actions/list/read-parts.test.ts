import { expect, test } from 'bun:test'
import { prefetchResults } from './read-parts.ts'

/** Jobs that end when the test resolves them. */
function jobs(count: number, most: number) {
  const ends: PromiseWithResolvers<number>[] = []
  const results = prefetchResults({ count, most }, () => {
    const end = Promise.withResolvers<number>()
    ends.push(end)
    return end.promise
  })
  return { results, ends }
}

test('results read ahead: they come in order whatever order they finish in, with no more running than allowed', async () => {
  const { results, ends } = jobs(5, 2)
  expect(ends.length).toBe(0)
  const got: number[] = []
  for (let job = 0; job < 5; job++) {
    const next = results.next()
    expect(ends.length).toBe(Math.min(5, job + 3))
    for (const [at, end] of [...ends.entries()].toReversed()) end.resolve(at)
    const { value } = await next
    got.push(value as number)
    // The next job starts only when the next result is requested.
    expect(ends.length).toBe(Math.min(5, job + 3))
  }
  expect(got).toEqual([0, 1, 2, 3, 4])
  expect(await results.next()).toEqual({ done: true, value: undefined })
})

test('results read ahead: a failed item ends the iteration in its turn, after the items before it', async () => {
  const { results, ends } = jobs(4, 2)
  const first = results.next()
  ends[1]?.reject(new Error('of a test'))
  ends[0]?.resolve(7)
  expect(await first).toEqual({ done: false, value: 7 })
  expect(results.next()).rejects.toThrow('of a test')
  expect(await results.next()).toEqual({ done: true, value: undefined })
  // The job that was already started is not cancelled.
  expect(ends.length).toBe(4)
  ends[2]?.reject(new Error('that nobody waits for'))
})

test('results read ahead: a caller that leaves early does not wait', async () => {
  const { results, ends } = jobs(9, 2)
  const first = results.next()
  ends[0]?.resolve(0)
  await first
  expect(await results.return()).toEqual({ done: true, value: undefined })
  ends[1]?.reject(new Error('that nobody waits for'))
})
