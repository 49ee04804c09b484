import { afterAll, beforeAll, expect, test } from 'bun:test'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { seen, until } from '#test/support/wait.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { expectEnd } from './folder.ts'

let folder: CliFolder
let store: Awaited<ReturnType<typeof temporarySqlite>>
beforeAll(async () => {
  folder = await cliFolder()
  store = await temporarySqlite()
  await store.store.create()
  await store.store.close()
})
afterAll(async () => {
  await folder[Symbol.asyncDispose]()
  await store.destroy()
})

/** A service on the socket `name` in the folder. */
function serveOn(name: string, ...more: readonly string[]) {
  const path = join(folder.path, name)
  const service = folder.start(['serve', '--listen', `unix:${name}`, '--store', `sqlite:${store.path}`, ...more])
  const ask = async (asked: string, headers: Readonly<Record<string, string>> = {}) =>
    (await fetch(`http://localhost${asked}`, { unix: path, headers })).status
  const stop = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
    service.kill(signal)
    return (await service.ended).code
  }
  return { ...service, path, ask, stop }
}

const modeOf = async (path: string): Promise<string> => ((await lstat(path)).mode & 0o777).toString(8)

test('socket: serves with its access rights under its path, and leaves no file behind', async () => {
  const service = serveOn('own.sock', '--base-path', '/iost')
  expect(await service.firstLine).toBe(`http://unix:${service.path}:/iost`)
  expect([await modeOf(service.path), await service.ask('/iost/health')]).toEqual(['660', 200])
  // The command gives up after four seconds. On a busy machine it may get no answer, and is repeated.
  const health = ['health', '--listen', 'unix:own.sock', '--base-path', '/iost']
  await until(async () => (await folder.run(health)).code === 0)
  expect(await service.stop()).toBe(0)
  expect((await readdir(folder.path)).filter(name => name.includes('own.sock'))).toEqual([])
  await expectEnd(folder, ['health', '--listen', 'unix:own.sock'], 75, `http://unix:${service.path}`)
})

test('socket: the socket of a running process is kept, that of a killed process is replaced', async () => {
  const first = serveOn('left.sock')
  expect(await first.firstLine).toBe(`http://unix:${first.path}`)
  const err = expect.stringMatching(/left\.sock is in use by another process\.[\s\S]*--reuse-port/)
  expect(await serveOn('left.sock').ended).toMatchObject({ code: 2, err })
  expect(await first.ask('/health')).toBe(200)
  await first.stop('SIGKILL')
  expect((await lstat(first.path)).isSocket()).toBe(true)
  const second = serveOn('left.sock', '--socket-mode', '606')
  await second.firstLine
  expect([await modeOf(second.path), await second.ask('/health')]).toEqual(['606', 200])
  expect(await second.stop()).toBe(0)
})

test.each([
  ['a file that is no socket', 'plain', /plain exists and is not a Unix socket\./],
  ['a folder that is not there', 'none/s.sock', /Cannot listen on unix:.*none\/s\.sock/],
  ['a path that is too long', 'x'.repeat(91), /unix:PATH with a whole path of at most 90 bytes/],
] as const)('socket: %s is refused with the remedy', async (_what, name, said) => {
  await Bun.write(join(folder.path, 'plain'), 'text')
  const { code, err } = await serveOn(name).ended
  expect([code, err]).toEqual([2, expect.stringMatching(said)])
  expect(await Bun.file(join(folder.path, 'plain')).text()).toBe('text')
})

test.each([
  ['believed when it is trusted', ['--trusted-proxies', 'unix'], 401, '"client":"198.51.100.2"'],
  ['of no account when it is not', ['--trusted-proxies', '0.0.0.0/0'], 429, '"client":"unix"'],
] as const)("socket: the proxy's client address is %s", async (_what, trusted, status, line) => {
  const service = serveOn('proxy.sock', '--log-format', 'json', ...trusted)
  await service.firstLine
  const ask = (from: string) =>
    service.ask('/rpc/getNodeInfo', { 'X-Forwarded-For': `203.0.113.7, ${from}`, 'X-API-Key': 'wrong' })
  /** Sends requests at once, since one more wrong key is let through every 600 ms. */
  const burst = (count: number, from: string) => Promise.all(Array.from({ length: count }, () => ask(from)))
  await seen(
    () => burst(130, '198.51.100.1'),
    statuses => statuses.includes(429),
  )
  const others = await seen(
    () => burst(20, '198.51.100.2'),
    statuses => statuses.includes(status),
  )
  expect(others.includes(429)).toBe(status === 429)
  await service.logs(line)
  expect(await service.stop()).toBe(0)
})

test('socket: the next process takes it over without a lost request', async () => {
  const former = serveOn('shared.sock', '--reuse-port')
  await former.firstLine
  const tally = { answered: 0, wrong: [] as unknown[] }
  let isOver = false
  const clients = [1, 2, 3, 4].map(async () => {
    while (!isOver) {
      const status = await former.ask('/health', { Connection: 'close' }).catch(String)
      if (status === 200) tally.answered += 1
      else tally.wrong.push(status)
    }
  })
  const answeredMore = async (): Promise<void> => {
    const before = tally.answered
    await until(() => tally.answered >= before + 100)
  }
  await answeredMore()
  const next = serveOn('shared.sock', '--reuse-port')
  await next.firstLine
  expect(await former.stop()).toBe(0)
  await answeredMore()
  isOver = true
  await Promise.all(clients)
  expect(tally.wrong).toEqual([])
  expect(await next.stop()).toBe(0)
})
