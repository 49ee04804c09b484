import { afterAll, beforeAll, expect, test } from 'bun:test'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { catalogue } from '#cli/metrics/catalogue.ts'
import { readSettings } from '#cli/read-settings.ts'
import { startServing } from '#cli/serving.ts'
import type { Log } from '#failure/failure.ts'
import { createCounters } from '#metrics/counters.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { askAlone } from '../support/processes/ask-alone.ts'
import { type CliFolder, cliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { freePort } from '../support/processes/free-port.ts'
import { ROOT } from '../support/root.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { seen, soon, until } from '../support/wait.ts'
import { addKey, expectEnd, loadedFolder, stop } from './folder.ts'

const HEIGHT = 60
const SERVE = ['serve', '--listen', '127.0.0.1:0']
const AWAY = ['--node', 'http://127.0.0.1:1']

test.each([
  ['127.0.0.1', {}],
  ['0.0.0.0', { NO_PROXY: '' }],
  ['[::1]', { NO_PROXY: 'elsewhere.example' }],
  ['localhost', { no_proxy: 'elsewhere.example' }],
] as const)('health asks the service at %s itself, though a proxy that is away is named: %j', async (host, more) => {
  await using folder = await cliFolder()
  const proxy = `http://127.0.0.1:${await freePort()}`
  const named = { HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, ...more }
  const server = Bun.serve({ port: 0, hostname: host.replace(/[[\]]/g, ''), fetch: () => new Response('alive') })
  const health = await folder.run(['health', '--listen', `${host}:${server.port}`], named)
  expect(health).toEqual({ code: 0, out: 'alive\n', err: '' })
  await server.stop(true)
})

test('start: a service whose address is in use ends all that it had begun', async () => {
  await using folder = await cliFolder()
  const { store, destroy } = await temporarySqlite()
  await store.create()
  const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') })
  const { values } = readSettings(new Map(), {
    IOSTLENS_DATA: folder.path,
    IOSTLENS_LISTEN: `127.0.0.1:${other.port}`,
    IOSTLENS_METRICS_LISTEN: '127.0.0.1:0',
  })
  let metrics = ''
  const log: Log = (_level, _message, fields) => {
    metrics = String(fields?.['url'])
  }
  const parts = { values, version: '0', log, droppedLines: () => 0, counts: createCounters(catalogue) }
  await expect(startServing({ ...parts, store, node: undefined })).rejects.toMatchObject({ kind: 'usage' })
  expect(metrics).toStartWith('http://')
  await expect(fetch(metrics)).rejects.toThrow()
  await other.stop(true)
  await destroy()
})

/** A loaded service with a node that tells when it was asked `count` times, and answers only once `released`. */
async function startWithSlowNode(count: number, released: Promise<void>, options: readonly string[]) {
  const asked = Promise.withResolvers<void>()
  let calls = 0
  const node = await startFaultyNode(({ path }) => {
    if (!path.startsWith('/getAccount/')) return undefined
    calls += 1
    if (calls === count) asked.resolve()
    return released.then(() => new Response('{}'))
  }, HEIGHT)
  const folder = await loadedFolder(HEIGHT)
  const key = await addKey(folder)
  const service = folder.start([...SERVE, '--node', node.url, ...options])
  const url = await service.firstLine
  const ask = async (name: string): Promise<Response> => {
    const answered = await fetch(`${url}/rpc/getAccount/${name}/true?apikey=${key}`)
    if (calls >= count || answered.status !== 503) return answered
    // A node that answered a probe late gets no requests until the next probe.
    await Bun.sleep(50)
    return ask(name)
  }
  const close = async () => {
    await folder[Symbol.asyncDispose]()
    await node[Symbol.asyncDispose]()
  }
  return { service, url, ask, asked: asked.promise, [Symbol.asyncDispose]: close }
}

test('stop: running requests are answered, each is logged once, and the exit code is 0', async () => {
  const COUNT = 8
  const goOn = Promise.withResolvers<void>()
  const patient = ['--deadline', '60s', '--node-timeout', '60s']
  await using slow = await startWithSlowNode(COUNT, goOn.promise, patient)
  // Equal requests would share one call to the node.
  const running = Array.from({ length: COUNT }, (_, at) => slow.ask(`a${at}`))
  await soon(`${COUNT} calls to the node`, slow.asked)
  slow.service.kill('SIGTERM')
  // No new connection is accepted once the stop has begun.
  await until(async () => (await askAlone(`${slow.url}/health`).catch(() => undefined)) === undefined, 0)
  goOn.resolve()
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array.from({ length: COUNT }, () => 200))
  const { code, err } = await slow.service.ended
  const lines = err.trimEnd().split('\n')
  const answered = lines.filter(line => line.includes('route=rpc') && line.includes('status=200'))
  expect([code, answered.length, lines.filter(line => line.includes('Serving.')).length]).toEqual([0, COUNT, 1])
  expect(lines.filter(line => !/^\d{4}-\d\d-\d\dT[\d:.]+Z (?:info |warn |error) [A-Z]/.test(line))).toEqual([])
})

test('stop: requests that wait for a node are refused at the end of the drain', async () => {
  const never = new Promise<void>(() => undefined)
  const options = ['--deadline', '10m', '--node-timeout', '10m', '--drain', '100ms']
  await using slow = await startWithSlowNode(1, never, options)
  const held = slow.ask('admin')
  await slow.asked
  slow.service.kill('SIGTERM')
  const answer = await held
  expect([answer.status, answer.headers.get('connection'), await answer.json()]).toMatchObject([
    503,
    'close',
    { message: 'The service is stopping; try again.' },
  ])
  expect((await slow.service.ended).code).toBe(0)
})

test('stop: a service that shares its port reports that it is stopping, and answers its last requests', async () => {
  await using folder = await loadedFolder(HEIGHT)
  const lastAnswers = async () => {
    const service = folder.start([...SERVE, '--reuse-port'])
    const url = await service.firstLine
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    // A second service without the setting is refused.
    await expectEnd(
      folder,
      ['serve', '--listen', new URL(url).host],
      2,
      /is in use by another program\.\n {2}Stop that/,
    )
    service.kill('SIGTERM')
    const answers: unknown[] = []
    for (let isOpen = true; isOpen; ) {
      const answer = await fetch(`${url}/ready`).catch(() => undefined)
      if (answer === undefined) isOpen = false
      else if (answer.status === 503)
        answers.push([answer.headers.get('connection'), ((await answer.json()) as { reason: string }).reason])
    }
    expect((await service.ended).code).toBe(0)
    return answers
  }
  // The service answers for one more second. If a busy machine let no request through, the test repeats this.
  const answers = await seen(lastAnswers, got => got.length > 0)
  expect(answers[0]).toEqual(['close', 'The service is stopping.'])
})

test.each([[['serve']], [['up', ...AWAY]]])('stop: SIGHUP ends %p with 0', async command => {
  await using folder = await cliFolder()
  const running = folder.start([...command, '--listen', '127.0.0.1:0'])
  await running.firstLine
  await stop(running, 'SIGHUP')
})

test.each([
  [[], 0, 'Nothing is loaded.\n', ''],
  [['--once'], 75, '', 'before the end; run it again to continue.'],
  [['--to', '60'], 75, '', 'before the end; run it again to continue.'],
])('stop: a load with %p that waits for a node ends at once, with a reason', async (end, code, out, says) => {
  await using folder = await cliFolder()
  const loading = folder.start(['load', ...end, ...AWAY])
  await loading.logs('Loading paused, trying again.')
  loading.kill('SIGINT')
  expect(await loading.ended).toEqual({ code, out, err: expect.stringContaining(says) })
})

/** A program with the stop signal of the commands. */
const stopping = (program: string): readonly string[] => [
  process.execPath,
  '-e',
  `import { stopSignal, waitUntilStopped } from ${JSON.stringify(join(ROOT, 'src/cli/stop.ts'))}
  const signal = stopSignal()
  console.log('ready')
  ${program}`,
]

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('stop: a second %s ends a process that ignores the first', async (signal, code) => {
  const wait = "setInterval(() => {}, 1000); await waitUntilStopped(signal); console.log('asked')"
  const child = spawnIn(ROOT, stopping(wait))
  await child.says('ready')
  child.kill(signal)
  await child.says('asked')
  child.kill(signal)
  expect((await child.ended).code).toBe(code)
})

test('stop: a process that was started to outlive its terminal does', async () => {
  const hangUp = `process.kill(process.pid, 'SIGHUP'); setTimeout(() => console.log(signal.aborted ? 'asked' : 'goes on'), 50)`
  const nohup = ['sh', '-c', 'trap "" HUP; exec "$@"', 'sh']
  const outcome = await spawnIn(ROOT, [...nohup, ...stopping(hangUp)]).ended
  expect(outcome).toMatchObject({ code: 0, out: 'ready\ngoes on\n' })
})

let folder: CliFolder
beforeAll(async () => {
  folder = await cliFolder()
  await expectEnd(folder, ['indices', 'create'], 0, '')
})
afterAll(() => folder[Symbol.asyncDispose]())

/** A service on the socket `name` in the folder. */
function serveOn(name: string, ...more: readonly string[]) {
  const path = join(folder.path, name)
  const service = folder.start(['serve', '--listen', `unix:${name}`, ...more])
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
  await until(async () => (await burst(130, '198.51.100.1')).includes(429))
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
