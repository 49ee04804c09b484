import { expect, test } from 'bun:test'
import { seen } from '#test/support/wait.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { cliFolder } from '../support/processes/cli-process.ts'

test('stop: requests that wait for a node are refused at the end of the drain', async () => {
  const waiting = Promise.withResolvers<void>()
  let isAsked = false
  await using node = await startFaultyNode(async ({ path }) => {
    if (!path.startsWith('/getAccount/')) return undefined
    isAsked = true
    waiting.resolve()
    return new Promise<Response>(() => undefined)
  }, 60)
  await using folder = await cliFolder()
  const load = await folder.run(['load', '--once', '--node', node.url])
  expect(load.code).toBe(0)
  const service = folder.start([
    ...['serve', '--node', node.url, '--listen', '127.0.0.1:0'],
    ...['--test-key', 'try-it', '--deadline', '10m', '--node-timeout', '10m', '--drain', '100ms'],
  ])
  const url = await service.firstLine
  const headers = { 'x-api-key': 'try-it' }
  const ask = async (): Promise<Response> => {
    const answer = await fetch(`${url}/rpc/getAccount/admin/true`, { headers })
    if (isAsked || answer.status !== 503) return answer
    // A node that answered a probe late gets no requests until the next probe.
    await Bun.sleep(50)
    return ask()
  }
  const held = ask()
  await waiting.promise
  service.kill('SIGTERM')
  const answer = await held
  expect([answer.status, answer.headers.get('connection'), await answer.json()]).toMatchObject([
    503,
    'close',
    { message: 'The service is stopping; try again.' },
  ])
  expect((await service.ended).code).toBe(0)
})

test('stop: a service that shares its port reports that it is stopping, and answers its last requests', async () => {
  await using folder = await cliFolder()
  await using node = await startFaultyNode(undefined, 60)
  expect((await folder.run(['load', '--once', '--node', node.url])).code).toBe(0)
  /** The answers of a service from its stop until its port is closed. */
  const lastAnswers = async () => {
    const service = folder.start(['serve', '--listen', '127.0.0.1:0', '--reuse-port'])
    const url = await service.firstLine
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    // A second service without the setting is refused.
    const other = await folder.run(['serve', '--listen', new URL(url).host])
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('is in use')])
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
