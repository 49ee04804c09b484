import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createKey } from '#keys/key.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { askInTurn, startCrowd } from '../support/processes/crowd.ts'
import { fillFromRecording } from '../support/stores/loaded.ts'

/**
 * A well-behaved key beside others that send as many requests as they can, through real connections to a real
 * process. It checks only counts, because times depend on the machine.
 */

/** Answers that a key gets one after the other. Its plan allows this many. */
const COUNT = 60

let folder: CliFolder
const keys: string[] = []
let good: string

beforeAll(async () => {
  folder = await cliFolder()
  await mkdir(join(folder.path, 'data'))
  const store = openSqlite({ path: join(folder.path, 'data', 'iostlens.sqlite') })
  await fillFromRecording(store, { to: 600 })
  const add = async (perSecond: number) => {
    const { key, stored } = createKey('k', { perSecond, perDay: 1_000_000 }, { now: Date.now() })
    await store.keys.add(stored)
    return key
  }
  good = await add(1_000)
  for (let at = 0; at < 10; at++) keys.push(await add(1_000_000))
  await store.close()
})
afterAll(() => folder[Symbol.asyncDispose]())

const page = (key: string): string => `/api/?module=account&action=get-account-tx&account=admin&size=20&apikey=${key}`

/** The number of answers by status, for the good key and for the crowd. */
async function beside(
  crowd: { readonly paths: readonly string[]; readonly connections: number },
  args: readonly string[] = [],
) {
  const service = folder.start([
    'serve',
    ...['--listen', '127.0.0.1:0', '--log-level', 'warn', '--deadline', '60s', ...args],
    // Each answer takes the store's time.
    ...['--kept-answers', '0'],
  ])
  try {
    const url = await service.firstLine
    const others = await startCrowd(url, crowd.paths, crowd.connections)
    const counts = await askInTurn(url, page(good), COUNT)
    return { good: Object.fromEntries(counts), others: (await others.stop()).counts }
  } finally {
    service.kill('SIGKILL')
    await service.ended
  }
}

test('crowd: ten keys waiting for a hanging node take no answer from a key that reads the store', async () => {
  using node = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: () => new Promise<Response>(() => {}),
  })
  const unknown = '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPq'
  const paths = keys.flatMap(key => [
    `/rpc/getNodeInfo?apikey=${key}`,
    `/api/?module=transaction&action=get-transaction-detail&tx_hash=${unknown}&apikey=${key}`,
  ])
  const { good, others } = await beside({ paths, connections: 100 }, [
    ...['--node', `http://127.0.0.1:${node.port}`, '--node-timeout', '30s'],
  ])
  expect(good).toEqual({ 200: COUNT })
  expect(others.get(200)).toBeUndefined()
})

for (const [name, own, connections] of [
  ['one key on 600 connections', 1, 600],
  ['ten keys on 1,000 connections', 10, 1_000],
] as const)
  test(`crowd: ${name} take no answer from another key`, async () => {
    const { good, others } = await beside({ paths: keys.slice(0, own).map(page), connections })
    expect(good).toEqual({ 200: COUNT })
    // Some requests of the crowd are answered, and those beyond its share are refused.
    expect(others.get(200)).toBeGreaterThan(0)
    expect(others.get(503)).toBeGreaterThan(0)
  })
