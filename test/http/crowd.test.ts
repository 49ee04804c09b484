import { expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import { spokenNode } from '../support/nodes/spoken-node.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { until } from '../support/wait.ts'

/** Connections of each of ten keys, and answers of another key meanwhile. */
const EACH = 10
const COUNT = 20

test('crowd: ten keys waiting for a hanging node take no answer from a key that reads the store', async () => {
  let hanging = 0
  const node = {
    ...spokenNode({}),
    get: () => {
      hanging += 1
      return new Promise<never>(() => undefined)
    },
  }
  const plan = { perSecond: 1_000_000, perDay: 1_000_000 }
  const keys = Array.from({ length: 10 }, (_, at) => createKey(`crowd ${at}`, plan, { now: Date.now() }))
  const service = serviceOn(await loadedStore(), { node, keys: keys.map(({ stored }) => stored), maxInFlight: 4 })
  const unknown = '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPq'
  const left = new AbortController()
  const statuses: number[] = []
  const crowd = keys.flatMap(({ key }) =>
    Array.from({ length: EACH }, async (_, at) => {
      const call = at % 2 === 0 ? 'rpc/getNodeInfo?' : `api/transaction/get-transaction-detail?tx_hash=${unknown}&`
      statuses.push((await service.ask(`/${call}apikey=${key}`, { signal: left.signal })).status)
    }),
  )
  await until(() => hanging > 0, 0)
  for (let at = 0; at < COUNT; at += 1) {
    const path = `/api/account/get-account-tx?account=admin&size=20&page=${at + 1}&apikey=${service.key}`
    expect([at, (await service.ask(path)).status]).toEqual([at, 200])
  }
  left.abort()
  await Promise.all(crowd)
  expect(statuses).not.toContain(200)
})
