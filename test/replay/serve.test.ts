import { expect, test } from 'bun:test'
import { type Replay, type ReplayOptions, serveReplay } from '#test/replay/serve.ts'
import { recording, rpcCalls } from '#test/support/nodes/recording.ts'

async function withReplay(
  options: Omit<ReplayOptions, 'recording'>,
  work: (replay: Replay) => Promise<void>,
): Promise<void> {
  const replay = serveReplay({ recording: await recording(), ...options })
  try {
    await work(replay)
  } finally {
    await replay.stop()
  }
}

const textOf = async (url: string): Promise<string> => (await fetch(url)).text()

test('serveReplay: every recorded call has the recorded answer', async () => {
  await withReplay({}, async replay => {
    const calls = await rpcCalls()
    const different: string[] = []
    for (const { method, path, body, ...recorded } of calls) {
      const answer = await fetch(`${replay.url}${path}`, { method, ...(body === undefined ? {} : { body }) })
      const given = {
        status: answer.status,
        content_type: answer.headers.get('content-type'),
        text: await answer.text(),
      }
      if (!Bun.deepEquals(given, recorded)) different.push(`${method} ${path} ${body ?? ''}`)
    }
    expect(different).toEqual([])
    expect(calls.length).toBe(3992)
  })
})

test('serveReplay: blocks above the height are not found until the chain has grown', async () => {
  await withReplay({ to: 100 }, async replay => {
    const notFound = '{"code":2,"message":"block not found"}'
    const transaction = '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp'
    expect(await textOf(`${replay.url}/getBlockByNumber/101/true`)).toBe(notFound)
    expect(await textOf(`${replay.url}/getTxByHash/${transaction}`)).toBe('{"code":2,"message":"tx not found"}')
    expect(JSON.parse(await textOf(`${replay.url}/getChainInfo`))).toMatchObject({
      head_block: '100',
      head_block_hash: 'DX7dNt8dsiwW6nMK4gCUBi23YuHaa2W46mVmvy4bLTak',
      lib_block: '100',
      lib_block_time: '1795247054000194705',
      chain_id: 1020,
    })
    replay.setHeight(749)
    expect(await textOf(`${replay.url}/getBlockByNumber/101/true`)).toBe((await recording()).blockText(101) ?? '')
    expect(JSON.parse(await textOf(`${replay.url}/getTxByHash/${transaction}`))).toMatchObject({
      status: 'IRREVERSIBLE',
      block_number: '749',
    })
    expect(() => replay.setHeight(4852)).toThrow("Height 4852 is not one of the recording's 0 … 4851.")
    expect(replay.height()).toBe(749)
  })
})

test('serveReplay: a growing chain has one more block after each interval', async () => {
  await withReplay({ to: 4849, growth: { intervalMs: 1 } }, async replay => {
    while (replay.height() < 4851) await textOf(`${replay.url}/getNodeInfo`)
    expect(JSON.parse(await textOf(`${replay.url}/getChainInfo`))).toMatchObject({ lib_block: '4851' })
  })
})

test("serveReplay: a call that was not recorded is refused in the node's form", async () => {
  await withReplay({}, async replay => {
    const answer = await fetch(`${replay.url}/getAccount/neverseen/true`)
    expect([answer.status, await answer.text()]).toEqual([400, '{"code":2,"message":"not recorded"}'])
  })
})

test('serveReplay: a browser’s preflight request is answered', async () => {
  await withReplay({}, async replay => {
    const answer = await fetch(`${replay.url}/getNodeInfo`, {
      method: 'OPTIONS',
      headers: { origin: 'http://a.example', 'access-control-request-method': 'GET' },
    })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
  })
})
