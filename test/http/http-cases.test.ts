import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { type Ask, askCase, type HttpCaseKeys, httpCases } from './cases.ts'

const cases = await httpCases()
const now = Date.UTC(2026, 10, 21)
const plan = { perSecond: 9, perDay: 9 }

let service: Service
let url: string
let keys: HttpCaseKeys

beforeAll(async () => {
  const revoked = createKey('revoked', plan, { now })
  const expired = createKey('expired', plan, { now: 0, expires: Date.UTC(2026, 0, 1) })
  service = serviceOn(await loadedStore(), { keys: [{ ...revoked.stored, revoked: now }, expired.stored] })
  keys = { key: service.key, revoked: revoked.key, expired: expired.key }
  service.app.listen({ hostname: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${service.app.server?.port}`
})
afterAll(() => service.app.stop(true))

const ways: readonly (readonly [name: string, ask: Ask])[] = [
  ['asked within the process', (path, init) => service.ask(path, init)],
  ['asked over HTTP', (path, init) => fetch(`${url}${path}`, init)],
]
for (const [name, ask] of ways)
  describe(`bad requests, ${name}`, () => {
    for (const one of cases)
      test(one.name, async () => {
        expect(await askCase(one, ask, keys)).toEqual(one)
      })
  })

test('http-cases: there are at least a hundred, each with its own name', () => {
  expect(cases.length).toBeGreaterThanOrEqual(100)
  expect(new Set(cases.map(one => one.name)).size).toBe(cases.length)
})
