import { expect, test } from 'bun:test'
import { soon, until } from '#test/support/wait.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { askAlone } from '../support/processes/ask-alone.ts'
import { cliFolder } from '../support/processes/cli-process.ts'

/** A service, tested from the view of its callers and its operator. */

async function keyFor(folder: Awaited<ReturnType<typeof cliFolder>>, perDay: number): Promise<string> {
  const limits = ['--per-second', '1000000', '--per-day', String(perDay)]
  return (await folder.run(['keys', 'add', 'k', ...limits])).out.trimEnd().split('\n').at(-1) ?? ''
}

const ask = async (url: string): Promise<number> => (await askAlone(url)).status

test('limits: a process allows exactly the daily requests of the plan, also after a restart', async () => {
  await using folder = await cliFolder()
  const key = await keyFor(folder, 50)
  const service = folder.start(['serve', '--listen', '127.0.0.1:0'])
  const url = await service.firstLine
  // Without a node, each call within the limit gets 503.
  const asked = Array.from({ length: 120 }, () => ask(`${url}/rpc/getNodeInfo?apikey=${key}`))
  const statuses = await Promise.all(asked)
  expect(statuses.filter(status => status === 503).length).toBe(50)
  expect(statuses.filter(status => status === 429).length).toBe(70)
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)

  const again = folder.start(['serve', '--listen', '127.0.0.1:0'])
  expect(await ask(`${await again.firstLine}/rpc/getNodeInfo?apikey=${key}`)).toBe(429)
}, 600_000)

test('start: an address in use is one message and exit code 2', async () => {
  await using folder = await cliFolder()
  await keyFor(folder, 1)
  const first = folder.start(['serve', '--listen', '127.0.0.1:0'])
  const address = (await first.firstLine).slice('http://'.length)
  const second = await folder.run(['serve', '--listen', address])
  expect(second).toEqual({
    code: 2,
    out: '',
    err: `iostlens: Address ${address} is in use by another program.\n  Stop that program, or choose another address with --listen HOST:PORT (port 0 picks a free port).\n`,
  })
  expect((await fetch(`http://${address}/health`)).status).toBe(200)
}, 600_000)

test('stop: running requests are answered, each is logged once, and the exit code is 0', async () => {
  await using folder = await cliFolder()
  const key = await keyFor(folder, 1_000)
  const asked = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const COUNT = 8
  let count = 0
  await using node = await startFaultyNode(async ({ path }) => {
    if (!path.startsWith('/getAccount/')) return undefined
    count += 1
    if (count === COUNT) asked.resolve()
    await goOn.promise
    return new Response('{}')
  }, 60)
  const service = folder.start([
    ...['serve', '--listen', '127.0.0.1:0', '--deadline', '60s', '--node-timeout', '60s'],
    ...['--node', node.url],
  ])
  const url = await service.firstLine
  // Equal requests would share one call to the node.
  const answered = async (path: string): Promise<number> => {
    const status = await ask(`${url}${path}?apikey=${key}`)
    if (count === COUNT || status !== 503) return status
    // A node that answered a probe late gets no requests until the next probe.
    await Bun.sleep(50)
    return answered(path)
  }
  const running = Array.from({ length: COUNT }, (_, at) => answered(`/rpc/getAccount/a${at}/true`))
  await soon(`${COUNT} calls to the node`, asked.promise)
  service.kill('SIGTERM')
  // No new connection is accepted once the stop has begun.
  await until(async () => (await ask(`${url}/health`).catch(() => 'refused')) === 'refused', 0)
  goOn.resolve()
  expect(await Promise.all(running)).toEqual(Array.from({ length: COUNT }, () => 200))
  const { code, err } = await service.ended
  const lines = err.trimEnd().split('\n')
  expect(code).toBe(0)
  expect(lines.filter(line => line.includes('Serving.')).length).toBe(1)
  expect(lines.filter(line => line.includes('route=rpc') && line.includes('status=200')).length).toBe(COUNT)
  // All log lines are whole.
  expect(lines.filter(line => !/^\d{4}-\d\d-\d\dT[\d:.]+Z (?:info |warn |error) [A-Z]/.test(line))).toEqual([])
}, 600_000)
