import { expect, test } from 'bun:test'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { keepThread } from './keep-thread.ts'
import type { ToThread } from './messages.ts'
import type { ThreadListener } from './worker.ts'

/** Fake threads that record their messages and can be made to send messages and die. */
const setUp = () => {
  const clock = handClock(0)
  const opened: { listener: ThreadListener; told: ToThread[]; isEnded: boolean }[] = []
  const lines: string[] = []
  const logged: unknown[] = []
  let deaths = 0
  const kept = keepThread({
    number: 1,
    open: listener => {
      const thread = { listener, told: [] as ToThread[], isEnded: false }
      opened.push(thread)
      return {
        post: message => thread.told.push(message),
        end: () => {
          thread.isEnded = true
        },
      }
    },
    begin: () => ({ type: 'logged' }),
    onDeath: () => {
      deaths += 1
    },
    log: (level, message, fields) => logged.push([level, message, fields?.['thread'], fields?.['reason']]),
    writeLine: line => lines.push(line),
    clock,
  })
  return { clock, opened, lines, logged, kept, deaths: () => deaths }
}

test('keepThread: a failure of the first thread at its start is rethrown, and no second thread starts', async () => {
  const { opened, kept, logged, deaths } = setUp()
  const failure = { kind: 'usage', message: 'Address x is in use.', help: 'Choose another.' } as const
  opened[0]?.listener.message({ type: 'failed', failure })
  expect(opened[0]?.isEnded).toBe(true)
  opened[0]?.listener.ended('code 0')
  await expect(kept.ready).rejects.toMatchObject(failure)
  expect([opened.length, logged, deaths()]).toEqual([1, [], 1])
  await kept.stop(1_000)
})

test('keepThread: the death of a thread is logged, and it is replaced after a pause', async () => {
  const { clock, opened, kept, logged, deaths } = setUp()
  opened[0]?.listener.message({ type: 'listening' })
  await kept.ready
  for (let death = 1; death < 4; death++) {
    opened.at(-1)?.listener.ended(`reason ${death}`)
    expect(opened).toHaveLength(death)
    expect(logged.at(-1)).toEqual([
      'error',
      'A serving thread has died; a new one replaces it.',
      2,
      `A serving thread ended: reason ${death}.`,
    ])
    expect(deaths()).toBe(death)
    await clock.pass(10_000)
    expect(opened).toHaveLength(death + 1)
  }
  kept.post({ type: 'logged' })
  expect(opened.map(({ told }) => told.length)).toEqual([1, 1, 1, 2])
})

test('keepThread: lines of a thread are written whole, and a thread that ignores the stop is terminated', async () => {
  const { clock, opened, lines, kept } = setUp()
  opened[0]?.listener.message({ type: 'lines', lines: ['one', 'two'] })
  expect([lines, opened[0]?.told.length]).toEqual([['one', 'two'], 2])
  const stopped = kept.stop(1_000)
  expect(opened[0]?.told.at(-1)).toEqual({ type: 'stop' })
  expect(opened[0]?.isEnded).toBe(false)
  await clock.pass(1_000)
  await stopped
  expect(opened[0]?.isEnded).toBe(true)
})
