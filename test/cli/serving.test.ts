import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { askAlone } from '../support/processes/ask-alone.ts'
import { cliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { freePort } from '../support/processes/free-port.ts'
import { ROOT } from '../support/root.ts'
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
  // All log lines are whole.
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
  /** The answers of a service from its stop until its port is closed. */
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
])(
  'stop: a load that waits for a node ends at once; with an end before it, that is said: %p',
  async (end, code, out, says) => {
    await using folder = await cliFolder()
    const loading = folder.start(['load', ...end, ...AWAY])
    await loading.logs('Loading paused, trying again.')
    loading.kill('SIGINT')
    expect(await loading.ended).toEqual({ code, out, err: expect.stringContaining(says) })
  },
)

/** A program with the stop signal of the commands. */
const stopping = (program: string): readonly string[] => [
  process.execPath,
  '-e',
  `import { stopSignal, untilStopped } from ${JSON.stringify(join(ROOT, 'src/cli/stop.ts'))}
  const signal = stopSignal()
  console.log('ready')
  ${program}`,
]

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('stop: a second %s ends a process that ignores the first', async (signal, code) => {
  const wait = "setInterval(() => {}, 1000); await untilStopped(signal); console.log('asked')"
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
