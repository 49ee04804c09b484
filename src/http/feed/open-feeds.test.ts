import { expect, test } from 'bun:test'
import type { Failure } from '#failure/failure.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { openFeeds } from './open-feeds.ts'

const POLL_MS = 100

test('openFeeds: a feed ends after two checks without a list of keys, however earlier feeds ended', async () => {
  const clock = handClock()
  const keyring = { refusalCheck: () => undefined } as never
  const { add } = openFeeds({ store: {} as never, keyring, clock })
  const check = async (): Promise<void> => {
    await clock.awaited(POLL_MS)
    await clock.pass(POLL_MS)
    await clock.awaited(POLL_MS)
  }
  const ended: Failure[] = []
  const feed = { keyHash: 'x', end: (failure: Failure) => void ended.push(failure), cutOff: () => undefined }
  const remove = add(feed)
  await check()
  remove()
  await clock.awaited(POLL_MS, 0)
  add(feed)
  await check()
  expect(ended).toEqual([])
  await check()
  expect(ended.map(({ kind }) => kind)).toEqual(['unavailable'])
})
