import { expect, test } from 'bun:test'
import { watchStore } from './watch-store.ts'

test('watchStore: logs once that the store cannot be served from, and once that it can again', async () => {
  const health = [undefined, undefined, 'it is gone', 'it is gone', 'it is another one', undefined, undefined]
  const lines: unknown[] = []
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  let looks = 0
  const watching = watchStore(
    {
      name: 'sqlite:chain.sqlite',
      whole: async () => {},
      published: async () => {
        const found = health[looks++]
        if (found !== undefined) throw new Error(found)
        return undefined
      },
    },
    {
      sleep: async () => {
        if (looks < health.length) return
        watching.stop()
        end()
      },
    },
    (level, message, fields) => lines.push([level, message, fields]),
  )
  await over
  expect(looks).toBe(health.length)
  expect(lines).toEqual([
    ['error', 'The store cannot be served from.', { reason: 'it is gone' }],
    ['error', 'The store cannot be served from.', { reason: 'it is another one' }],
    ['info', 'The store can be served from again.', { store: 'sqlite:chain.sqlite' }],
  ])
})
