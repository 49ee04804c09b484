import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { KeyPage } from '#store/keys-port.ts'
import type { KeyStore, StoredKey } from '#store/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { createKey, createNextKey, KEY_PATTERN } from './key.ts'
import { groupHolders, keyring, mapKeysByHash } from './keyring.ts'

const NOW = Date.UTC(2026, 10, 21)
const plan = { perSecond: 3, perDay: 7 }

/** A read of a store that cannot tell what has changed. */
const pageOf = (keys: readonly StoredKey[]): KeyPage => ({ keys, isStart: true, isEnd: true, mark: undefined })

/** A key list whose reads are counted and may fail or hang. A read returns the keys that were stored when it began. */
function harness(...keys: readonly StoredKey[]) {
  const clock = handClock(NOW)
  const state = { keys: [...keys], reads: 0, hung: 0, mode: 'works' as 'works' | 'fails' | 'hangs' }
  const store: Pick<KeyStore, 'read' | 'revoke'> = {
    read: () => {
      state.reads++
      if (state.mode === 'hangs' || state.hung-- > 0) return new Promise(() => {})
      return state.mode === 'works' ? Promise.resolve(pageOf([...state.keys])) : Promise.reject(new Error('down'))
    },
    revoke: async (id, now) => {
      state.keys = state.keys.map(key => (key.id === id ? { ...key, revoked: now } : key))
      return true
    },
  }
  /** Checks a key and advances the clock in small steps until there is an answer: `ok` or the kind of failure. */
  const ask = async (ring: ReturnType<typeof keyring>, key: string) => {
    const answer = ring.check(key).then(
      () => 'ok',
      ({ kind }) => String(kind),
    )
    await clock.settle()
    while (Bun.peek.status(answer) === 'pending') await clock.pass(10)
    return answer
  }
  return { state, store, clock, ask }
}

const [made, good] = [createKey('a', plan, { now: NOW }), createKey('b', plan, { now: NOW })]

test('check: a known key returns its caller; invalid texts are refused with the same words as unknown keys', async () => {
  const ring = keyring(harness(made.stored))
  expect(await ring.check(made.key)).toEqual({ id: made.stored.id, name: 'a', plan })
  for (const key of ['', 'x', `${made.key}x`, made.key.toLowerCase(), made.stored.hash, 'il_'.repeat(1_000)])
    await expect(ring.check(key)).rejects.toMatchObject({ kind: 'unauthorized', message: 'This API key is unknown.' })
})

test('check: revoked and expired keys are refused', async () => {
  const expiring = createKey('b', plan, { now: NOW, expires: NOW + 10 })
  const here = harness({ ...made.stored, revoked: NOW }, expiring.stored)
  const ring = keyring(here)
  await expect(ring.check(made.key)).rejects.toMatchObject({ kind: 'forbidden', message: 'This API key is revoked.' })
  expect((await ring.check(expiring.key)).id).toBe(expiring.stored.id)
  await here.clock.pass(10)
  await expect(ring.check(expiring.key)).rejects.toMatchObject({
    kind: 'forbidden',
    message: 'This API key expired on 2026-11-21T00:00:00.010Z.',
  })
})

test('check: a revocation is effective within a second while reads succeed, a new key at once', async () => {
  const here = harness(made.stored)
  const ring = keyring(here)
  await ring.check(made.key)
  await here.store.revoke(made.stored.id, NOW)
  await here.clock.pass(999)
  expect(await here.ask(ring, made.key)).toBe('ok')
  await here.clock.pass(1)
  expect(await here.ask(ring, made.key)).toBe('forbidden')
  here.state.keys.push(good.stored)
  await here.clock.pass(100)
  expect((await ring.check(good.key)).id).toBe(good.stored.id)
})

for (const every of [10, 700, 1_700])
  for (const hung of [0, 1, 2])
    test(`check: with ${hung} hung reads, asked every ${every} ms, a revoked key is refused within 2 s and a good one never`, async () => {
      const here = harness(made.stored, good.stored)
      const ring = keyring(here)
      expect(await here.ask(ring, made.key)).toBe('ok')
      await here.store.revoke(made.stored.id, NOW)
      here.state.hung = hung
      const start = here.clock.now()
      for (;;) {
        const answer = await here.ask(ring, made.key)
        if (answer === 'forbidden') break
        expect([answer, here.clock.now() - start < 2_000]).toEqual(['ok', true])
        expect(await here.ask(ring, good.key)).toBe('ok')
        await here.clock.pass(every)
      }
      expect(here.clock.now() - start).toBeLessThan(2_000 + every)
      expect(await here.ask(ring, good.key)).toBe('ok')
    })

for (const mode of ['fails', 'hangs'] as const)
  test(`check: while every read ${mode} no key is accepted for longer than 2 s; then 503 until one succeeds`, async () => {
    const here = harness(made.stored)
    const ring = keyring(here)
    expect(await here.ask(ring, made.key)).toBe('ok')
    here.state.mode = mode
    const start = here.clock.now()
    const answers: (readonly [at: number, answer: string])[] = []
    while (here.clock.now() < start + 10_000) {
      answers.push([here.clock.now() - start, await here.ask(ring, made.key)])
      await here.clock.pass(90)
    }
    const wrong = answers.filter(([at, answer]) => answer !== (at < 1_500 ? 'ok' : 'unavailable'))
    expect(wrong.filter(([at]) => at < 1_500 || at > 2_000)).toEqual([])
    // At most four reads a second.
    expect(here.state.reads).toBeLessThanOrEqual(42)
    here.state.mode = 'works'
    await here.clock.pass(400)
    await here.ask(ring, made.key)
    await here.clock.settle()
    expect(await here.ask(ring, made.key)).toBe('ok')
  })

test('check: after a failure no request waits for a read that hangs', async () => {
  const here = harness(made.stored)
  Object.assign(here.state, { hung: 1, mode: 'fails' })
  expect(await here.ask(keyring(here), made.key)).toBe('unavailable')
  // The second read, which failed, began after 250 ms; without it the check would have waited for a second.
  expect(here.clock.now() - NOW).toBeLessThan(500)
})

test('check: a read that was overtaken by a newer one does not restore the old list', async () => {
  const here = harness(made.stored)
  const slow = Promise.withResolvers<KeyPage>()
  const lists = [() => here.store.read(), () => slow.promise]
  const ring = keyring({ ...here, store: { read: () => (lists.shift() ?? here.store.read)() } })
  expect(await here.ask(ring, made.key)).toBe('ok')
  await here.clock.pass(1_000)
  expect(await here.ask(ring, made.key)).toBe('ok')
  const old = await here.store.read()
  await here.store.revoke(made.stored.id, NOW)
  await here.clock.pass(400)
  expect(await here.ask(ring, made.key)).toBe('forbidden')
  slow.resolve(old)
  await here.clock.settle()
  expect(await here.ask(ring, made.key)).toBe('forbidden')
})

test('check: a newer list is accepted although the clock was set back by an hour', async () => {
  const here = harness(made.stored)
  let back = 0
  const ring = keyring({ ...here, clock: { ...here.clock, now: () => here.clock.now() - back } })
  expect(await here.ask(ring, made.key)).toBe('ok')
  back = 3_600_000
  await here.clock.pass(5_000)
  expect(await here.ask(ring, made.key)).toBe('ok')
  await here.store.revoke(made.stored.id, NOW)
  await here.clock.pass(1_000)
  expect(await here.ask(ring, made.key)).toBe('forbidden')
})

test('check: the shared test key has its own plan and works without a list', async () => {
  const here = harness()
  here.state.mode = 'fails'
  const ring = keyring({ ...here, testKey: { key: 'test key', plan } })
  expect(await ring.check('test key')).toEqual({ id: 'test', name: 'test', plan })
  expect(here.state.reads).toBe(0)
})

function findHolder(...keys: readonly StoredKey[]) {
  const [holder] = groupHolders(keys)
  if (holder === undefined) throw new Error('There is no holder.')
  return holder
}

test('holders: a rotated key keeps its id, and all keys of its holder have the newest plan', () => {
  const [one, two] = [createKey('a', plan, { now: NOW, note: 'n' }), createKey('b', plan, { now: NOW })]
  const next = createNextKey(findHolder(one.stored), { now: NOW + 5 })
  expect(next.stored).toMatchObject({ id: `${one.stored.id}.2`, name: 'a', note: 'n', ...plan, created: NOW + 5 })
  expect([next.key === one.key, next.stored.hash === one.stored.hash]).toEqual([false, false])
  const stored = [one.stored, two.stored, { ...next.stored, perDay: 9 }]
  expect(groupHolders(stored).map(({ id, former, created }) => [id, former.length, created])).toEqual([
    [one.stored.id, 1, NOW],
    [two.stored.id, 0, NOW],
  ])
  const many = [9, 10, 2].map(number => ({ ...one.stored, id: `${one.stored.id}.${number}` }))
  expect(findHolder(one.stored, ...many).current.id).toBe(`${one.stored.id}.10`)
  const keys = mapKeysByHash(stored)
  for (const { hash } of [one.stored, next.stored])
    expect(keys.get(hash)).toMatchObject({ id: one.stored.id, perDay: 9 })
})

test('holders: one revoked key is enough, also beside a key created at the same moment', () => {
  const { stored } = createKey('a', plan, { now: NOW })
  const keys = [
    { ...stored, revoked: 5 },
    { ...stored, id: `${stored.id}.2`, hash: 'other' },
  ]
  expect([...mapKeysByHash(keys).values()].map(({ revoked }) => revoked)).toEqual([5, 5])
  expect(() => createNextKey(findHolder(...keys), { now: NOW })).toThrow('is revoked')
  const old = findHolder({ ...stored, expires: NOW - 1 })
  expect(() => createNextKey(old, { now: NOW })).toThrow('expired on')
  expect(createNextKey(old, { now: NOW, expires: NOW + 1 }).stored.expires).toBe(NOW + 1)
})

test('createKey: name, plan, time and hash are stored, never the key', () => {
  const { key, stored } = createKey('wallet 猫', plan, { now: 1_000 })
  expect(key).toMatch(KEY_PATTERN)
  const hash = createHash('sha256').update(key).digest('hex')
  const id = expect.stringMatching(/^[0-9a-f]{10}$/)
  expect(stored).toEqual({ id, hash, name: 'wallet 猫', ...plan, created: 1_000 })
  expect(createKey('a', plan, { now: 1, expires: 2 }).stored.expires).toBe(2)
})

test('createKey: a thousand keys are different and use every character', () => {
  const keys = Array.from({ length: 1_000 }, () => createKey('a', plan, { now: 1 }))
  expect(new Set(keys.map(({ key }) => key)).size).toBe(1_000)
  expect(new Set(keys.map(({ stored }) => stored.id)).size).toBe(1_000)
  expect(new Set(keys.flatMap(({ key }) => [...key.slice(3)])).size).toBe(62)
})

test.each<readonly [string, Parameters<typeof createKey>]>([
  ['an empty name', ['', plan, { now: 1 }]],
  ['spaces around the name', [' a', plan, { now: 1 }]],
  ['a line break in the name', ['a\nb', plan, { now: 1 }]],
  ['too long a name', ['a'.repeat(101), plan, { now: 1 }]],
  ['no request per second', ['a', { perSecond: 0, perDay: 1 }, { now: 1 }]],
  ['half a request per day', ['a', { perSecond: 1, perDay: 0.5 }, { now: 1 }]],
  ['NaN', ['a', { perSecond: Number.NaN, perDay: 1 }, { now: 1 }]],
  ['expiry now', ['a', plan, { now: 1, expires: 1 }]],
])('createKey: refuses %s', (_, given) => {
  expect(() => createKey(...given)).toThrow(expect.objectContaining({ kind: 'usage' }))
})
