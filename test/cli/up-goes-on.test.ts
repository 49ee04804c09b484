import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { seen, until } from '#test/support/wait.ts'
import { type Fault, type FaultyNode, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { type CliFolder, cliFolder, type Running } from '../support/processes/cli-process.ts'

/** Answers whose blocks lack their last transaction. */
const dropping: Fault = async ({ path }, truth) => {
  if (path === '/getChainInfo') return undefined
  const answer = JSON.parse(await truth()) as {
    readonly block?: { readonly transactions: unknown[] }
    readonly blocktx_list?: readonly { readonly tx_list: unknown[] }[]
  }
  answer.block?.transactions.pop()
  for (const { tx_list } of answer.blocktx_list ?? []) tx_list.pop()
  return new Response(JSON.stringify(answer))
}
const anotherChain: Fault = async ({ path }, truth) =>
  path === '/getChainInfo' ? new Response((await truth()).replace('"chain_id":1020', '"chain_id":1024')) : undefined
const FAULTS: readonly (readonly [name: string, fault: Fault])[] = [
  ['a transaction is dropped from every block', dropping],
  [
    'answers have 40 MB',
    ({ path }) => (path === '/getChainInfo' ? undefined : new Response(new Uint8Array(40_000_000))),
  ],
  [
    'the last irreversible block is absurd',
    async ({ path }, truth) =>
      path === '/getChainInfo'
        ? new Response((await truth()).replace(/"(lib|head)_block":"\d+"/g, '"$1_block":"900000000000"'))
        : undefined,
  ],
  ['another chain answers', anotherChain],
  ['everything is answered with 503', () => new Response('away', { status: 503 })],
]

describe('up with a faulty node', () => {
  let folder: CliFolder
  let node: FaultyNode
  let service: Running
  let url: string
  let key: string
  let fault: Fault = () => undefined
  let faults = 0
  let height = 40

  beforeAll(async () => {
    folder = await cliFolder()
    node = await startFaultyNode(async (asked, truth) => {
      const wrong = await fault(asked, truth)
      if (wrong !== undefined) faults += 1
      return wrong
    }, height)
    const plan = ['--per-second', '100000', '--per-day', '1000000000']
    key = (await folder.run(['keys', 'add', 'asker', ...plan])).out.trimEnd().split('\n').at(-1) ?? ''
    service = folder.start(['up', '--node', node.url, '--listen', '127.0.0.1:0'])
    url = await service.firstLine
    await loaded()
  })
  afterAll(async () => {
    service.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
    await node[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })

  const published = async (): Promise<number> => {
    const response = await fetch(`${url}/api/?module=base&action=get-overview&apikey=${key}`)
    const { data } = (await response.json()) as { readonly data: { readonly lib_block?: number } }
    return response.status === 200 ? (data.lib_block ?? -1) : -1
  }
  const loaded = async (): Promise<void> => {
    await until(async () => (await published()) >= height, 20)
  }

  test.each(FAULTS)('serves meanwhile, and resumes when the node recovers: %s', async (_name, sick) => {
    faults = 0
    fault = sick
    height += 40
    node.setHeight(height)
    // The fault lasts so long that the load pauses more than once.
    while (faults < 4) {
      expect(await published()).toBeGreaterThanOrEqual(height - 40)
      await Bun.sleep(20)
    }
    expect(await published()).toBeGreaterThanOrEqual(height - 40)
    fault = () => undefined
    await loaded()
  })
})

test('serve does not use a node of another chain than the stored one', async () => {
  await using folder = await cliFolder()
  await using ours = await startFaultyNode(undefined, 20)
  await using other = await startFaultyNode(anotherChain, 20)
  expect((await folder.run(['load', '--once', '--node', ours.url])).code).toBe(0)
  const added = await folder.run(['keys', 'add', 'asker'])
  const key = added.out.trimEnd().split('\n').at(-1) ?? ''
  const expectStatus = async (nodes: string, expected: number): Promise<void> => {
    const service = folder.start(['serve', '--node', nodes, '--listen', '127.0.0.1:0'])
    const url = await service.firstLine
    // A node that answered a probe late gets no requests until the next probe.
    await seen(
      async () => (await fetch(`${url}/rpc/getChainInfo?apikey=${key}`)).status,
      status => status === expected,
      50,
    )
    await service.logs(`serves another chain than the store; it is not used. node=${other.url}`)
    service.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
  }
  await expectStatus(other.url, 503)
  await expectStatus(`${other.url},${ours.url}`, 200)
  expect([...new Set(other.asked.map(({ path }) => path))]).toEqual(['/getChainInfo', '/getBlockByNumber/0/false'])
})

describe('exit codes of load --once', () => {
  test.each([
    ['a host that does not exist', ['--node', 'http://nosuch.invalid:30001'], 75, /host name in --node is unknown/],
    ['a text that is no URL', ['--node', 'nosuch:30001'], 2, /--node is 'nosuch:30001'/],
    ['a node that is away', ['--node', 'http://127.0.0.1:1', '--wait', '100ms'], 75, /ECONNREFUSED/],
  ] as const)('%s', async (_name, args, code, says) => {
    await using folder = await cliFolder()
    const ended = await folder.run(['load', '--once', ...args])
    expect([ended.code, ended.err]).toEqual([code, expect.stringMatching(says)])
  })
  test('a store of another chain exits with 3', async () => {
    await using folder = await cliFolder()
    await using node = await startFaultyNode(anotherChain, 20)
    await using ours = await startFaultyNode(undefined, 20)
    expect((await folder.run(['load', '--once', '--node', ours.url])).code).toBe(0)
    const ended = await folder.run(['load', '--once', '--node', node.url])
    expect([ended.code, ended.err]).toEqual([3, expect.stringContaining('chain 1024, not 1020')])
  })
  test('a second loader exits with 75', async () => {
    await using folder = await cliFolder()
    await using node = await startFaultyNode(undefined, 20)
    const first = folder.start(['load', '--node', node.url])
    await first.logs('Loaded blocks.')
    const ended = await folder.run(['load', '--once', '--node', node.url])
    expect([ended.code, ended.err]).toEqual([75, expect.stringContaining('Another loader is writing')])
  })
})
