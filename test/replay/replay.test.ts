import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { type ReplayOptions, serveReplay } from '#test/replay/serve.ts'
import { recording, rpcCalls } from '#test/support/nodes/recording.ts'
import { cliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { SOAK } from '../support/processes/soak.ts'
import { ROOT } from '../support/root.ts'

const SCRIPT = join(ROOT, 'scripts/replay')
const DEVNET = join(ROOT, 'test/chain/devnet')

const replayOf = async (options: Omit<ReplayOptions, 'recording'> = {}) =>
  serveReplay({ recording: await recording(), ...options })
const textOf = async (url: string): Promise<string> => (await fetch(url)).text()

test('serveReplay: recorded calls have the recorded answers', async () => {
  await using replay = await replayOf()
  const calls = await rpcCalls()
  expect(calls.length).toBe(3992)
  const different: string[] = []
  for (const { method, path, body, ...recorded } of calls.filter((_, at) => SOAK || at % 4 === 0)) {
    const answer = await fetch(`${replay.url}${path}`, { method, ...(body === undefined ? {} : { body }) })
    const given = { status: answer.status, content_type: answer.headers.get('content-type'), text: await answer.text() }
    if (!Bun.deepEquals(given, recorded)) different.push(`${method} ${path} ${body ?? ''}`)
  }
  expect(different).toEqual([])
})

test('serveReplay: blocks above the height are not found until the chain has grown', async () => {
  await using replay = await replayOf({ to: 100 })
  const transaction = '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp'
  const block = () => textOf(`${replay.url}/getBlockByNumber/101/true`)
  expect(await block()).toBe('{"code":2,"message":"block not found"}')
  expect(await textOf(`${replay.url}/getTxByHash/${transaction}`)).toBe('{"code":2,"message":"tx not found"}')
  expect(JSON.parse(await textOf(`${replay.url}/getChainInfo`))).toMatchObject({
    head_block: '100',
    head_block_hash: 'DX7dNt8dsiwW6nMK4gCUBi23YuHaa2W46mVmvy4bLTak',
    lib_block: '100',
    lib_block_time: '1795247054000194705',
    chain_id: 1020,
  })
  replay.setHeight(749)
  expect(await block()).toBe((await recording()).blockText(101) ?? '')
  expect(JSON.parse(await textOf(`${replay.url}/getTxByHash/${transaction}`))).toMatchObject({
    status: 'IRREVERSIBLE',
    block_number: '749',
  })
  expect(() => replay.setHeight(4852)).toThrow("Height 4852 is not one of the recording's 0 … 4851.")
})

test("serveReplay: a call that was not recorded is refused in the node's form; a preflight is answered", async () => {
  await using replay = await replayOf()
  const answer = await fetch(`${replay.url}/getAccount/neverseen/true`)
  expect([answer.status, await answer.text()]).toEqual([400, '{"code":2,"message":"not recorded"}'])
  const headers = { origin: 'http://a.example', 'access-control-request-method': 'GET' }
  const preflight = await fetch(`${replay.url}/getNodeInfo`, { method: 'OPTIONS', headers })
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
})

test('replay: the recorded chain is served until the program is stopped; a height beyond it is a usage error', async () => {
  await using folder = await cliFolder()
  const node = spawnIn(folder.path, [SCRIPT, DEVNET, '--listen', '127.0.0.1:0', '--to', '60'])
  expect(JSON.parse(await textOf(`${await node.firstLine}/getChainInfo`))).toMatchObject({ lib_block: '60' })
  node.kill('SIGTERM')
  expect((await node.ended).code).toBe(0)
  const high = await spawnIn(folder.path, [SCRIPT, DEVNET, '--listen', '127.0.0.1:0', '--to', '4852']).ended
  expect([high.code, high.err]).toEqual([2, "replay: Height 4852 is not one of the recording's 0 … 4851.\n"])
})
