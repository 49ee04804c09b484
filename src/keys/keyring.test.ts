import { expect, test } from 'bun:test'
import type { KeyStore, StoredKey } from '#store/port.ts'
import { createKey } from './key.ts'
import { keyring } from './keyring.ts'

const NOW = Date.UTC(2026, 10, 21)
const plan = { perSecond: 3, perDay: 7 }

/** A key list whose reads are counted and may fail or hang. */
const harness = (...keys: readonly StoredKey[]) => {
  const state = { time: NOW, keys: [...keys], reads: 0, mode: 'works' as 'works' | 'fails' | 'hangs' }
  const store: KeyStore = {
    add: async key => {
      state.keys.push(key)
    },
    list: () => {
      state.reads++
      if (state.mode === 'hangs') return new Promise(() => {})
      return state.mode === 'works' ? Promise.resolve([...state.keys]) : Promise.reject(new Error('down'))
    },
    revoke: async (id, now) => {
      state.keys = state.keys.map(key => (key.id === id ? { ...key, revoked: now } : key))
      return true
    },
  }
  return { state, store, now: () => state.time, patienceMs: 1 }
}

const made = createKey('a', plan, { now: NOW })

test('check: gives the caller of a known key', async () => {
  expect(await keyring(harness(made.stored)).check(made.key)).toEqual({ id: made.stored.id, plan })
})

test('check: refuses what is no key, with the same words', async () => {
  const ring = keyring(harness(made.stored))
  for (const key of ['', 'x', `${made.key}x`, made.key.toLowerCase(), made.stored.hash, 'il_'.repeat(1_000)])
    await expect(ring.check(key)).rejects.toMatchObject({
      kind: 'unauthorized',
      message: 'This API key is unknown.',
    })
})

test('check: refuses revoked and expired keys', async () => {
  const expiring = createKey('b', plan, { now: NOW, expires: NOW + 10 })
  const here = harness({ ...made.stored, revoked: NOW }, expiring.stored)
  const ring = keyring(here)
  await expect(ring.check(made.key)).rejects.toMatchObject({
    kind: 'forbidden',
    message: 'This API key is revoked.',
  })
  expect((await ring.check(expiring.key)).id).toBe(expiring.stored.id)
  here.state.time += 10
  await expect(ring.check(expiring.key)).rejects.toMatchObject({
    kind: 'forbidden',
    message: 'This API key expired on 2026-11-21T00:00:00.010Z.',
  })
})

test('check: a revocation is heeded within a second, a new key at once', async () => {
  const here = harness(made.stored)
  const ring = keyring(here)
  await ring.check(made.key)
  await here.store.revoke(made.stored.id, NOW)
  here.state.time += 999
  await ring.check(made.key)
  here.state.time += 1
  await expect(ring.check(made.key)).rejects.toMatchObject({ kind: 'forbidden' })
  const other = createKey('b', plan, { now: NOW })
  await here.store.add(other.stored)
  here.state.time += 100
  expect((await ring.check(other.key)).id).toBe(other.stored.id)
})

test('check: reads the list once for many callers', async () => {
  const here = harness(made.stored)
  const ring = keyring(here)
  await Promise.all(Array.from({ length: 50 }, () => ring.check(made.key)))
  here.state.time += 1_000
  await Promise.all(Array.from({ length: 50 }, () => ring.check(made.key)))
  expect(here.state.reads).toBe(2)
})

for (const mode of ['fails', 'hangs'] as const)
  test(`check: a list that ${mode} leaves the last one in force for a minute, then 503`, async () => {
    const here = harness(made.stored)
    const ring = keyring(here)
    await ring.check(made.key)
    here.state.mode = mode
    for (const passed of [1_000, 1_500, 30_000, 60_000]) {
      here.state.time = NOW + passed
      expect((await ring.check(made.key)).id).toBe(made.stored.id)
    }
    here.state.time = NOW + 60_001
    await expect(ring.check(made.key)).rejects.toMatchObject({ kind: 'unavailable' })
  })

test('check: a list that failed is asked again, once a second', async () => {
  const here = harness(made.stored)
  const ring = keyring(here)
  await ring.check(made.key)
  here.state.mode = 'fails'
  here.state.time += 1_000
  for (let again = 0; again < 10; again++) await ring.check(made.key)
  expect(here.state.reads).toBe(2)
  here.state.mode = 'works'
  here.state.keys = []
  here.state.time += 1_000
  await expect(ring.check(made.key)).rejects.toMatchObject({ kind: 'unauthorized' })
})

test('check: without any list nobody is let in, and the next call tries again', async () => {
  const here = harness(made.stored)
  here.state.mode = 'fails'
  const ring = keyring(here)
  await expect(ring.check(made.key)).rejects.toThrow('down')
  here.state.mode = 'works'
  expect((await ring.check(made.key)).id).toBe(made.stored.id)
})

test('check: the shared test key has its own plan and needs no list', async () => {
  const here = harness()
  here.state.mode = 'fails'
  const ring = keyring({ ...here, testKey: { key: 'test key', plan } })
  expect(await ring.check('test key')).toEqual({ id: 'test', plan })
  expect(here.state.reads).toBe(0)
})
