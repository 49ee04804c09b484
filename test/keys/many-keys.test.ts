import { afterAll, expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import { hashOfKey, keyring } from '#keys/keyring.ts'
import type { StoredKey } from '#store/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

const NOW = Date.UTC(2026, 10, 21)
const MANY = 100_000
const plan = { perSecond: 5, perDay: 10_000 }

const { store, destroy } = await temporarySqlite()
afterAll(destroy)

const textOf = (number: number): string => `key number ${number}`
const stored = (number: number): StoredKey => ({
  ...{ id: number.toString(16).padStart(10, '0'), hash: hashOfKey(textOf(number)), name: `holder ${number}` },
  ...{ ...plan, created: NOW },
})

test('many keys: after the first reading, a check reads only what was written, for known and unknown keys alike', async () => {
  await store.create()
  for (let from = 0; from < MANY; from += 10_000)
    await store.keys.add(...Array.from({ length: 10_000 }, (_, at) => stored(from + at)))
  const clock = handClock(NOW)
  let read = 0
  let mostAtOnce = 0
  const ring = keyring({
    store: {
      read: async (since, signal) => {
        const page = await store.keys.read(since, signal)
        read += page.keys.length
        mostAtOnce = Math.max(mostAtOnce, page.keys.length)
        return page
      },
    },
    clock,
  })
  /** The answer to a check, while the clock goes on in small steps. */
  const ask = async (key: string): Promise<string> => {
    let answer: string | undefined
    ring.check(key).then(
      ({ id }) => {
        answer = id
      },
      ({ kind }: { readonly kind: string }) => {
        answer = kind
      },
    )
    await clock.settle()
    while (answer === undefined) await clock.pass(10)
    return answer
  }
  expect(await ask(textOf(77_777))).toBe(stored(77_777).id)
  // The thread answers other requests between two pages.
  expect([read, mostAtOnce <= 1_000]).toEqual([MANY, true])

  read = 0
  for (let second = 0; second < 20; second++) {
    for (let stranger = 0; stranger < 8; stranger++)
      expect(await ask(`stranger ${second} ${stranger}`)).toBe('unauthorized')
    expect(await ask(textOf(second * 4_999))).toBe(stored(second * 4_999).id)
    await clock.pass(1_000)
  }
  expect(read).toBe(0)

  const added = createKey('new', plan, { now: NOW })
  await store.keys.add(added.stored)
  await store.keys.revoke(stored(5).id, NOW)
  await clock.pass(100)
  expect(await ask(added.key)).toBe(added.stored.id)
  await clock.pass(1_000)
  expect([await ask(textOf(5)), await ask(textOf(6)), read]).toEqual(['forbidden', stored(6).id, 2])
})

test('many keys: a key whose holder gets another key or is revoked follows it, whichever is read first', async () => {
  const { store: own, destroy: end } = await temporarySqlite()
  try {
    await own.create()
    const clock = handClock(NOW)
    const ring = keyring({ store: own.keys, clock })
    const first = createKey('rotated', plan, { now: NOW })
    await own.keys.add(first.stored)
    expect((await ring.check(first.key)).plan).toEqual(plan)
    const next = createKey('rotated', { perSecond: 9, perDay: 99 }, { now: NOW })
    await own.keys.add({ ...next.stored, id: `${first.stored.id}.2` })
    await clock.pass(1_000)
    for (const key of [first.key, next.key])
      expect(await ring.check(key)).toMatchObject({ id: first.stored.id, plan: { perSecond: 9, perDay: 99 } })
    await own.keys.revoke(`${first.stored.id}.2`, NOW)
    await clock.pass(1_000)
    for (const key of [first.key, next.key]) await expect(ring.check(key)).rejects.toMatchObject({ kind: 'forbidden' })
  } finally {
    await end()
  }
})
