import { expect, test } from 'bun:test'
import { createAnswerCache } from './answer-cache.ts'

test('keptAnswers: a call that waits for an equal one is released when it is over itself', async () => {
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
