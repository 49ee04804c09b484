import { expect, test } from 'bun:test'
import { createRates } from '#gate/rate.ts'
import { createKey } from '#keys/key.ts'
import { keyring } from '#keys/keyring.ts'
import type { StoredKey } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { feedEvents } from '../support/processes/feed-client.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { seen } from '../support/wait.ts'

/** Work that goes on after its request was admitted: it counts under the plan, and ends with its key. */

const PLAN = { perSecond: 1_000, perDay: 100_000 }

async function started(plan = PLAN) {
  const { key, stored } = createKey('worker', plan, { now: Date.now() })
  let keys: readonly StoredKey[] = [stored]
  const service = serviceOn(await loadedStore(), {
    clock: systemClock,
    keyring: keyring({
      store: { read: async () => ({ keys, isStart: true, isEnd: true, mark: undefined }) },
      clock: systemClock,
    }),
    rates: createRates({ clock: systemClock }),
  })
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    service.ask(path, { headers: { 'x-api-key': key, ...headers } })
  return {
    ...service,
    ask,
    revoke: () => {
      keys = [{ ...stored, revoked: Date.now() }]
    },
    /** Number of requests of the day that a key has used. */
    used: async (): Promise<number> => {
      const { data } = (await (await ask('/usage')).json()) as { data: { today: { used: number } } }
      return data.today.used
    },
  }
}

/** Every list with a search, by its calls: nothing passes, so all rows are tested. */
const SEARCHES = [
  '/api/token/get-token-tx?token=iost&memo=no+such+memo&start_block=0',
  '/api/account/get-account-tx?account=busyhub&memo=no+such+memo&start_block=0',
  '/api/contract/get-contract-tx?contract=token.iost&memo=no+such+memo&start_block=0',
]

test('long work: a feed of a search counts as many requests as the export of the same search', async () => {
  for (const search of SEARCHES) {
    const { ask, used } = await started()
    const exported = await ask(`${search}&format=ndjson`)
    expect([search, exported.status]).toEqual([search, 200])
    await exported.text()
    const counted = await used()
    const response = await ask(`${search}&format=sse`)
    expect([search, response.status]).toEqual([search, 200])
    const leaving = new AbortController()
    const reading = (async () => {
      for await (const _ of feedEvents(response.body)) if (leaving.signal.aborted) break
    })()
    expect(counted).toBeGreaterThan(1)
    // The feed has found the end of the list when it counts no more.
    expect(await seen(used, count => count >= 2 * counted)).toBe(2 * counted)
    leaving.abort()
    void reading
  }
}, 60_000)

const EXPORTS = [
  '/api/account/get-account-tx?account=busyhub&format=ndjson',
  '/api/token/get-token-tx?token=iost&min_amount=0&format=csv',
  '/api/account/get-balance-history?account=busyhub&token=iost&format=csv&csv=ledger',
]

test.each(EXPORTS)(
  'long work: %s ends when its key is revoked, however slowly it is read',
  async path => {
    const { ask, revoke, lines } = await started()
    const response = await ask(path)
    expect(response.status).toBe(200)
    const reader = response.body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    revoke()
    // The client reads nothing meanwhile.
    const ended = await seen(
      async () => lines.find(({ fields }) => fields['route'] === 'api' && fields['status'] === 200),
      line => line !== undefined,
    )
    expect(ended?.fields['kind']).toBe('forbidden')
    const rest = async () => {
      for (;;) if ((await reader?.read())?.done === true) return 'whole'
    }
    // A broken body, which no client takes for the whole list.
    await expect(rest()).rejects.toThrow()
  },
  60_000,
)

test('long work: an export that is collected before it is sent is refused when its key is revoked', async () => {
  // Each thousand of rows waits for a second of the plan.
  const { ask, used, revoke } = await started({ perSecond: 1, perDay: 100_000 })
  // The list of keys is read, and fresh for a while.
  expect(await used()).toBe(0)
  const asked = ask('/api/account/get-account-tx?account=busyhub&format=ndjson', { connection: 'close' })
  revoke()
  const response = await asked
  expect([response.status, await response.json()]).toMatchObject([403, { message: 'This API key is revoked.' }])
}, 60_000)
