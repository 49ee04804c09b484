import { expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { watchStore } from './serving.ts'

const REPAIRED = 'A repair is unfinished.'
const REMEDY = "Run 'iostlens repair' again."

test('watchStore: a store that cannot be served is logged once with its remedy, and its recovery once', async () => {
  const health = [undefined, undefined, 'it is gone', 'it is gone', REPAIRED, undefined, undefined]
  const lines: unknown[] = []
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  let looks = 0
  const watching = watchStore(
    {
      name: 'sqlite:chain.sqlite',
      whole: async () => {},
      checkShape: async () => [],
      published: async () => {
        const found = health[looks++]
        if (found === REPAIRED) throw new Failure('damaged', found, { help: REMEDY })
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
    {
      log: (level, message, fields) => lines.push([level, message, fields]),
      onRecovery: () => lines.push('recovered'),
    },
  )
  await over
  expect(looks).toBe(health.length)
  expect(lines).toEqual([
    [
      'error',
      'The store cannot be used; requests are refused.',
      { reason: 'it is gone', help: expect.stringContaining('iostlens doctor') },
    ],
    ['error', 'The store cannot be used; requests are refused.', { reason: REPAIRED, help: REMEDY }],
    ['info', 'The store can be used again.', { store: 'sqlite:chain.sqlite' }],
    'recovered',
  ])
})
