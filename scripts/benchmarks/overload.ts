import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '#keys/key.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { readExposition } from '#test/support/exposition.ts'
import { type Asked, askSteadily, quantile, startCrowd } from '#test/support/processes/crowd.ts'
import { fillFromRecording } from '#test/support/stores/loaded.ts'

/**
 * Measures how long a key that asks 20 times a second waits for its answers beside others that ask for all they can get,
 * and how long it waits alone, on the embedded store: `scripts/bun scripts/benchmarks/overload.ts [SECONDS]`. Client
 * and service share the machine, whatever else it does: the ratio of the two says more than either. Also how long refusals
 * take, and how much memory the service takes before and after.
 */

const MAIN = join(import.meta.dir, '../../src/main.ts')
const EVERY_MS = 50
const KEYS = 10
const seconds = Number(process.argv[2] ?? 10)

const folder = mkdtempSync(join(tmpdir(), 'iostlens-crowd-'))
const path = join(folder, 'iostlens.sqlite')
const store = openSqlite({ path })
await fillFromRecording(store, { to: 4_851 })
const addKey = async (perSecond: number) => {
  const { key, stored } = createKey('crowd', { perSecond, perDay: 1_000_000_000 }, { now: Date.now() })
  await store.keys.add(stored)
  return key
}
// A plan of just 20 would make it wait for its own pace, alone and beside others.
const good = await addKey(1_000)
const wide: string[] = []
for (let at = 0; at < KEYS; at++) wide.push(await addKey(1_000_000))
await store.close()

const page = (key: string, size: number) =>
  `/api/?module=account&action=get-account-tx&account=busyhub&size=${size}&apikey=${key}`
const told = (name: string, asked: Asked) => {
  const quantiles = (times: readonly number[]) =>
    [0.5, 0.99, 1].map(share => `${quantile(times, share).toFixed(0)} ms`).join(', ')
  const counts = [...asked.counts].map(([status, count]) => `${count} × ${status}`).join(', ')
  const refusals = asked.refusalTimes.length === 0 ? '–' : quantiles(asked.refusalTimes)
  console.log(`| ${name} | ${counts} | ${quantiles(asked.times)} | ${refusals} |`)
}
/** Connections that ask for paths without a pause, of a service with a node or without one. */
type Others = { readonly paths: readonly string[]; readonly connections: number; readonly node?: string }
const measure = async (name: string, { paths, connections, node }: Others) => {
  const args = [
    'serve',
    '--store',
    `sqlite:${path}`,
    '--data',
    folder,
    '--listen',
    '127.0.0.1:0',
    '--kept-answers',
    '0',
  ]
  const service = Bun.spawn(
    [process.execPath, MAIN, ...args, ...(node === undefined ? [] : ['--node', node])],
    { stdout: 'pipe', stderr: 'ignore' },
  )
  const { value } = await service.stdout.getReader().read()
  const url = new TextDecoder().decode(value).split('\n')[0] ?? ''
  const steady = { count: (seconds * 1_000) / EVERY_MS, everyMs: EVERY_MS }
  // What comes first pays for starting.
  await askSteadily(url, page(good, 20), { ...steady, count: 20 })
  const resident = async (): Promise<number> =>
    readExposition(await (await fetch(`${url}/metrics`)).text()).sum('process_resident_memory_bytes') / 1e6
  const before = await resident()
  const alone = await askSteadily(url, page(good, 20), steady)
  const crowd = await startCrowd(url, paths, connections)
  const asked = await askSteadily(url, page(good, 20), steady)
  const others = await crowd.stop()
  told('the one at 20/s, alone', alone)
  told(`${name}: the one at 20/s`, asked)
  told(`${name}: the others`, others)
  const [half, most] = [0.5, 0.99].map(share => quantile(asked.times, share) / quantile(alone.times, share))
  console.log(
    `| p50 and p99 beside the others to those alone; memory | ${half?.toFixed(1)} and ${most?.toFixed(1)} | ${before.toFixed(0)} MB before, ${(await resident()).toFixed(0)} MB after | load ${loadavg()[0]?.toFixed(1)} |`,
  )
  service.kill('SIGKILL')
  await service.exited
}

console.log('| who | answers | p50, p99, longest | of refusals |\n| --- | --- | --- | --- |')
const hanging = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  fetch: () => new Promise<Response>(() => {}),
})
const rpc = wide.map(key => `/rpc/getNodeInfo?apikey=${key}`)
await measure('ten keys on a node that hangs', {
  paths: rpc,
  connections: 100,
  node: `http://127.0.0.1:${hanging.port}`,
})
await measure('one key, 600 connections', {
  paths: wide.slice(0, 1).map(key => page(key, 50)),
  connections: 600,
})
await measure('ten keys, 1,000 connections', {
  paths: wide.map(key => page(key, 50)),
  connections: 1_000,
})
await hanging.stop(true)
rmSync(folder, { recursive: true })
