import { expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import { seen } from '#test/support/wait.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { temporarySqlite } from '../support/stores/loading.ts'

test('addresses: wrong keys are refused without a read of the store, valid keys are not', async () => {
  const { store, path, destroy } = await temporarySqlite()
  await store.create()
  const { key, stored } = createKey('a', { perSecond: 1_000, perDay: 100_000 }, { now: Date.now() })
  await store.keys.add(stored)
  await using folder = await cliFolder()
  const args = ['--listen', '127.0.0.1:0', '--store', `sqlite:${path}`]
  const service = folder.start(['serve', ...args, '--trusted-proxies', '127.0.0.1,fd00::/8'])
  const url = await service.firstLine
  const ask = async (from: string, with_: string, init: RequestInit = {}) => {
    const headers = { 'X-Forwarded-For': `203.0.113.7, ${from}`, 'X-API-Key': with_ }
    const { status, headers: got } = await fetch(`${url}/rpc/getNodeInfo`, { ...init, headers })
    return { status, wait: Number(got.get('retry-after') ?? 0) }
  }
  const statuses: number[] = []
  for (let times = 0; times < 100; times++) statuses.push((await ask('198.51.100.1', 'wrong')).status)
  expect(statuses).toEqual(Array(100).fill(401))
  // One more request is accepted each 600 ms, so most of a burst are refused, unless the machine stands still before it.
  const burst = () => Promise.all(Array.from({ length: 40 }, () => ask('198.51.100.1', 'wrong')))
  await seen(burst, answers => answers.some(({ status, wait }) => status === 429 && wait === 1))
  expect((await ask('198.51.100.1', 'wrong', { method: 'HEAD' })).status).not.toBe(200)
  // The same network with a valid key, and another network with a wrong one.
  expect((await ask('198.51.100.1', key)).status).toBe(503)
  expect((await ask('198.51.100.2', 'wrong')).status).toBe(401)
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
  await store.close()
  await destroy()
}, 600_000)
