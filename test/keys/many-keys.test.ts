import { afterAll, expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import { hashOfKey, keyring } from '#keys/keyring.ts'
import type { KeyStore, StoredKey } from '#store/port.ts'
import { type HandClock, handClock } from '#test/support/clocks/hand-clock.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

const NOW = Date.UTC(2026, 10, 21)
const MANY = 20_000
const plan = { perSecond: 5, perDay: 10_000 }

const { store, destroy } = await temporarySqlite()
afterAll(destroy)

const textOf = (number: number): string => `key number ${number}`
const stored = (number: number): StoredKey => ({
  ...{ id: number.toString(16).padStart(10, '0'), hash: hashOfKey(textOf(number)), name: `holder ${number}` },
  ...{ ...plan, created: NOW },
})

/** A keyring by a clock that goes on in small steps until the checks are answered: with ids, or kinds of failure. */
function openRing(read: (clock: HandClock, ...asked: Parameters<KeyStore['read']>) => ReturnType<KeyStore['read']>) {
  const clock = handClock(NOW)
  const ring = keyring({ store: { read: (...asked) => read(clock, ...asked) }, clock })
  const ask = async (...keys: readonly string[]): Promise<readonly string[]> => {
    const answer = (key: string) =>
      ring.check(key).then(
        ({ id }) => id,
        ({ kind }) => String(kind),
      )
    const answers = Promise.all(keys.map(answer))
    await clock.settle()
    while (Bun.peek.status(answers) === 'pending') await clock.pass(10)
    return answers
  }
  return { clock, ask }
}

test('many keys: after the first reading, a check reads only what was written, for known and unknown keys alike', async () => {
  await store.create()
  for (let from = 0; from < MANY; from += 10_000)
    await store.keys.add(...Array.from({ length: 10_000 }, (_, at) => stored(from + at)))
  let [read, mostAtOnce] = [0, 0]
  const { clock, ask } = openRing(async (_, ...asked) => {
    const page = await store.keys.read(...asked)
    read += page.keys.length
    mostAtOnce = Math.max(mostAtOnce, page.keys.length)
    return page
  })
  expect(await ask(textOf(7_777))).toEqual([stored(7_777).id])
  // The thread answers other requests between two pages.
  expect([read, mostAtOnce <= 1_000]).toEqual([MANY, true])

  read = 0
  for (let second = 0; second < 20; second++) {
    for (let stranger = 0; stranger < 8; stranger++)
      expect(await ask(`stranger ${second} ${stranger}`)).toEqual(['unauthorized'])
    expect(await ask(textOf(second * 999))).toEqual([stored(second * 999).id])
    await clock.pass(1_000)
  }
  expect(read).toBe(0)

  const added = createKey('new', plan, { now: NOW })
  await store.keys.add(added.stored)
  await store.keys.revoke(stored(5).id, NOW)
  await clock.pass(100)
  expect(await ask(added.key)).toEqual([added.stored.id])
  await clock.pass(1_000)
  expect([await ask(textOf(5), textOf(6)), read]).toEqual([['forbidden', stored(6).id], 2])
})

for (const [when, reads] of [
  ['for the first time', 1],
  ['from the first on again', 2],
] as const)
  test(`many keys: while all keys are read ${when}, no check is refused for it, however slow the pages are`, async () => {
    const pages = 50
    let generation = 1
    let slowMs = reads === 1 ? 900 : 0
    const { clock, ask } = openRing(async (own, since) => {
      if (slowMs > 0) await own.sleep(slowMs)
      const [known, next = 0] = since === undefined ? [] : since.split(' ').map(Number)
      const isKnown = known === generation
      const at = isKnown ? next : 0
      const keys = at < pages ? [stored(2 * at), stored(2 * at + 1)] : []
      return { keys, isStart: !isKnown, isEnd: at >= pages, mark: `${generation} ${Math.min(pages, at + 1)}` }
    })
    if (reads === 2) {
      expect(await ask(textOf(1))).toEqual([stored(1).id])
      // As after a restore, with a mark that nobody knows any more.
      generation = 2
      slowMs = 900
      // The list of before is trusted for a moment, and no longer.
      await clock.pass(1_800)
    }
    const numbers = [0, 1, 50, 99]
    expect(await ask(...numbers.map(textOf), 'stranger')).toEqual([
      ...numbers.map(number => stored(number).id),
      'unauthorized',
    ])
    expect(clock.now() - NOW).toBeGreaterThan(pages * 800)
  })
