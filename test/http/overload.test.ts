import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createKey } from '#keys/key.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { seen, until } from '#test/support/wait.ts'
import { readExposition } from '../support/exposition.ts'
import { spokenNode } from '../support/nodes/spoken-node.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { startCrowd } from '../support/processes/crowd.ts'
import { serviceOn } from '../support/processes/service.ts'
import { fillFromRecording, loadedStore } from '../support/stores/loaded.ts'

/**
 * Sends ten times as many requests as may run and wait, through real connections to a real process. It checks
 * only counts and bytes, because times depend on the machine.
 */

/** Number of running requests. Eight times as many may wait. */
const RUNNING = 4
const CAPACITY = 9 * RUNNING
/** Answers that the well-behaved key gets during the overload. */
const COUNT = 40
/** Daily limit of a key. */
const DAY = 150
/** Refusals before the first measurement of memory, and between two measurements. */
const WARM = 1_000
const MORE = 3_000
const MIB = 1024 * 1024

let folder: CliFolder
const wide: string[] = []
let good: string
let limited: string

beforeAll(async () => {
  folder = await cliFolder()
  await mkdir(join(folder.path, 'data'))
  const store = openSqlite({ path: join(folder.path, 'data', 'iostlens.sqlite') })
  await fillFromRecording(store, { to: 600 })
  const add = async (perDay: number) => {
    const { key, stored } = createKey('k', { perSecond: 1_000_000, perDay }, { now: Date.now() })
    await store.keys.add(stored)
    return key
  }
  good = await add(1_000_000)
  limited = await add(DAY)
  for (let at = 0; at < 10; at++) wide.push(await add(1_000_000_000))
  await store.close()
})
afterAll(() => folder[Symbol.asyncDispose]())

const page = (key: string): string => `/api/?module=account&action=get-account-tx&account=admin&size=20&apikey=${key}`
const from = (address: string) => ({ 'X-Forwarded-For': address })

test('overload: ten times the capacity changes no answer and no limit', async () => {
  const service = folder.start([
    ...['serve', '--listen', '127.0.0.1:0', '--log-level', 'error', '--deadline', '60s'],
    ...['--max-in-flight', String(RUNNING), '--data', `data`],
    // Each answer takes the store's time.
    ...['--kept-answers', '0'],
    ...['--test-key', 'shared-test-key', '--trusted-proxies', '127.0.0.1'],
  ])
  const url = await service.firstLine
  const ask = async (path: string, address = '192.0.2.1') => {
    const response = await fetch(`${url}${path}`, { headers: from(address) })
    return { status: response.status, text: await response.text() }
  }
  const measured = async () => {
    const { sum } = readExposition(await (await fetch(`${url}/metrics`)).text())
    const answered = (status: number) => sum('iostlens_http_requests_total', { status: String(status) })
    return {
      refused: [401, 429, 503].reduce((all, status) => all + answered(status), 0),
      answered: answered(200),
      failed: answered(500) + answered(504),
      reads: sum('iostlens_store_calls_total', { call: 'read' }),
      bytes: sum('process_resident_memory_bytes'),
    }
  }
  const quiet = await ask(page(good))
  expect(quiet.status).toBe(200)
  const start = await measured()
  const crowd = (paths: readonly string[], share: number, address: string) =>
    startCrowd(url, paths, Math.ceil(10 * CAPACITY * share), from(address))
  const crowds = {
    wide: await crowd(wide.map(page), 0.7, '192.0.2.2'),
    wrong: await crowd([page('wrong')], 0.2, '192.0.2.4'),
    test: await crowd([page('shared-test-key')], 0.1, '192.0.2.5'),
  }
  const warm = await seen(measured, ({ refused }) => refused - start.refused >= WARM, 20)
  // Requests of a valid key during the overload, also from the address that sends wrong keys.
  for (let at = 0; at < COUNT; at++)
    expect(await ask(page(good), at % 2 === 0 ? '192.0.2.1' : '192.0.2.4')).toEqual(quiet)
  // An address without failures still gets 401 for a wrong key, and its share of the test key.
  expect((await ask(page('wrong'), '192.0.2.6')).status).toBe(401)
  const tried = new Set<number>()
  while (!tried.has(200)) tried.add((await ask(page('shared-test-key'), '192.0.2.7')).status)
  expect([...tried].filter(status => ![200, 429, 503].includes(status))).toEqual([])
  // Requests count against the daily limit once. Requests refused for lack of capacity do not count.
  const spend = async (): Promise<number> => {
    for (let days = 0; ; ) {
      const { status } = await ask(page(limited), '192.0.2.3')
      if (status === 429) return days
      if (status === 200) days += 1
    }
  }
  const spent = await Promise.all(Array.from({ length: CAPACITY }, spend))
  expect([...spent, await spend()].reduce((all, own) => all + own, 0)).toBe(DAY)
  // Memory varies with garbage collection. If refusals leaked, it would never fall below the
  // limit again.
  await seen(measured, ({ refused, bytes }) => refused - warm.refused >= MORE && bytes - warm.bytes < 64 * MIB, 20)
  const wideCounts = await crowds.wide.stop()
  const wrongCounts = await crowds.wrong.stop()
  const testCounts = await crowds.test.stop()
  // Some requests of the crowds are answered, and each refusal has the right status.
  expect([...wideCounts.keys()].toSorted()).toEqual([200, 503])
  expect([...wrongCounts.keys()].toSorted()).toEqual([401, 429])
  expect([...testCounts.keys()].every(status => [200, 429, 503].includes(status))).toBe(true)
  // The limit of wrong keys per minute, and one more each 600 ms.
  expect(wrongCounts.get(401)).toBeGreaterThanOrEqual(100)
  expect(wrongCounts.get(401)).toBeLessThan((wrongCounts.get(429) ?? 0) / 2)
  // A refusal does not read the store. A request whose client has left may have been answered.
  const end = await measured()
  expect(end.failed).toBe(0)
  expect(end.reads - start.reads).toBeLessThanOrEqual(end.answered - start.answered + 2 * CAPACITY)
  expect(end.refused - start.refused).toBeGreaterThan(WARM + MORE - 1)
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
}, 600_000)

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
    Array.from({ length: 10 }, async (_, at) => {
      const call = at % 2 === 0 ? 'rpc/getNodeInfo?' : `api/transaction/get-transaction-detail?tx_hash=${unknown}&`
      statuses.push((await service.ask(`/${call}apikey=${key}`, { signal: left.signal })).status)
    }),
  )
  await until(() => hanging > 0, 0)
  for (let at = 0; at < 20; at += 1) {
    const path = `/api/account/get-account-tx?account=admin&size=20&page=${at + 1}&apikey=${service.key}`
    expect([at, (await service.ask(path)).status]).toEqual([at, 200])
  }
  left.abort()
  await Promise.all(crowd)
  expect(statuses).not.toContain(200)
})
