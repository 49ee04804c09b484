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

for (const [when, reads] of [
  ['for the first time', 1],
  ['from the first on again', 2],
] as const)
  test(`many keys: while all keys are read ${when}, no check is refused for it, however slow the pages are`, async () => {
    const clock = handClock(NOW)
    const pages = 50
    let generation = 1
    let slowMs = reads === 1 ? 900 : 0
    const ring = keyring({
      store: {
        read: async since => {
          if (slowMs > 0) await clock.sleep(slowMs)
          const [known, next = 0] = since === undefined ? [] : since.split(' ').map(Number)
          const isKnown = known === generation
          const at = isKnown ? next : 0
          const keys = at < pages ? [stored(2 * at), stored(2 * at + 1)] : []
          return { keys, isStart: !isKnown, isEnd: at >= pages, mark: `${generation} ${Math.min(pages, at + 1)}` }
        },
      },
      clock,
    })
    /** The answers to checks at once, while the clock goes on in small steps. */
    const ask = async (...keys: readonly string[]): Promise<readonly (string | undefined)[]> => {
      const answers: (string | undefined)[] = keys.map(() => undefined)
      for (const [at, key] of keys.entries()) {
        const note = (text: string) => {
          answers[at] = text
        }
        ring.check(key).then(
          ({ id }) => note(id),
          ({ kind }: { readonly kind: string }) => note(kind),
        )
      }
      await clock.settle()
      while (answers.includes(undefined)) await clock.pass(50)
      return answers
    }
    if (reads === 2) {
      expect(await ask(textOf(1))).toEqual([stored(1).id])
      // As after a restore, with a mark that nobody knows any more.
      generation = 2
      slowMs = 900
      // The list of before is trusted for a moment, and no longer.
      await clock.pass(1_800)
    }
    const numbers = [0, 1, 50, 99]
    const answers = await ask(...numbers.map(textOf), 'stranger')
    expect(answers).toEqual([...numbers.map(number => stored(number).id), 'unauthorized'])
    expect(clock.now() - NOW).toBeGreaterThan(pages * 800)
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
