import { expect, test } from 'bun:test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createKey } from '#keys/key.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { seen, until } from '#test/support/wait.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { keepAliveClient } from '../support/processes/keep-alive-client.ts'
import { fillFromRecording } from '../support/stores/loaded.ts'

const CLIENTS = 8
const PLAN = { perSecond: 1_000_000, perDay: 1_000_000_000 }

test('restart: two processes on one port lose no request', async () => {
  await using folder = await cliFolder()
  await mkdir(join(folder.path, 'data'))
  const store = openSqlite({ path: join(folder.path, 'data', 'iostlens.sqlite') })
  await fillFromRecording(store, { to: 60 })
  const { key, stored } = createKey('load', PLAN, { now: Date.now() })
  await store.keys.add(stored)
  await store.close()
  const serve = (port: number) =>
    folder.start([...['serve', '--listen', `127.0.0.1:${port}`, '--reuse-port'], ...['--log-sample', '1000000']])
  let serving = serve(0)
  const url = new URL(await serving.firstLine)
  const path = '/api/block/get-block-detail?number=7'
  const expected = await (await fetch(new URL(path, url), { headers: { 'x-api-key': key } })).text()
  expect(expected).toContain('"number":7')
  const clients = Array.from({ length: CLIENTS }, () =>
    keepAliveClient(Number(url.port), { path, headers: `X-API-Key: ${key}`, expected }),
  )
  const sum = (of: 'answered' | 'released'): number => clients.reduce((sum, { tally }) => sum + tally[of], 0)
  let isOver = false
  const loads = clients.map(async client => {
    while (!isOver) await client.once()
    client.close()
  })
  await until(() => sum('answered') > 200)
  const restart = async (): Promise<number> => {
    const next = serve(Number(url.port))
    await next.firstLine
    serving.kill('SIGTERM')
    expect((await serving.ended).code).toBe(0)
    serving = next
    const before = sum('answered')
    await until(() => sum('answered') > before + 100)
    return sum('released')
  }
  // A stopping process answers requests for one more second, to close its clients' connections. If a busy
  // machine let no request through, the test repeats this.
  await seen(restart, released => released > 0)
  isOver = true
  await Promise.all(loads)
  expect(clients.flatMap(({ tally }) => tally.wrong).slice(0, 5)).toEqual([])
  serving.kill('SIGTERM')
  expect((await serving.ended).code).toBe(0)
})
