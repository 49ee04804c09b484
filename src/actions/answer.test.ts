import { expect, test } from 'bun:test'
import { createAnswerCache, holdPermit, type Permit } from './answer.ts'

test('holdPermit: a permit is released when the work ends or fails', async () => {
  let taken = 0
  const acquire = async (): Promise<Permit> => {
    taken += 1
    return {
      waitForNode: ask => ask(),
      waitAfterRead: ask => ask(),
      leave: () => {
        taken -= 1
      },
    }
  }
  expect(await holdPermit(acquire, async () => taken)).toBe(1)
  expect(taken).toBe(0)
  await expect(holdPermit(acquire, () => Promise.reject(new Error('x')))).rejects.toThrow('x')
  expect(taken).toBe(0)
})

test('shared answers: a call that waits for an equal one is released when it is over itself', async () => {
  const kept = createAnswerCache<{ readonly text: string }>({ maxCharacters: 100_000, onAnswer: () => undefined })
  const [edition, client] = [{}, new AbortController()]
  const [first, second] = [kept.begin(), kept.begin()]
  expect(await first.find(edition, 'page')).toBeUndefined()
  const waiting = second.find(edition, 'page', client.signal)
  client.abort(new Error('gone'))
  first.put({ text: 'answer' })
  first.end()
  await expect(waiting).rejects.toThrow('gone')
  second.end()
  expect(await kept.begin().find(edition, 'page')).toEqual({ text: 'answer' })
})
