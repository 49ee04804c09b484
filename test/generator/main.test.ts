import { expect, test } from 'bun:test'
import { readOptions } from './main.ts'
import { serveGenerated } from './serve.ts'
import { DEFAULTS } from './settings.ts'
import { small } from './small.ts'

test('readOptions: reads numbers, profile and address', () => {
  expect(readOptions(['--help'])).toBeUndefined()
  expect(readOptions([])).toEqual({ profile: DEFAULTS.profile, host: '127.0.0.1', port: 0 })
  expect(
    readOptions(['--seed', '9', '--blocks', '300000000', '--profile', 'busy', '--listen', 'localhost:81']),
  ).toEqual({ seed: 9, blocks: 300_000_000, profile: 'busy', host: 'localhost', port: 81 })
})

test.each([
  [['--seed', '1e3'], '--seed 1e3 is not a whole number.'],
  [['--profile', 'huge'], '--profile huge is none of sparse, busy, mixed.'],
  [['--listen', '81'], '--listen 81 is not HOST:PORT.'],
  [['--length', '5'], "Unknown option '--length'"],
])('readOptions: %p is refused by name', (words, message) => {
  expect(() => readOptions(words)).toThrow(message)
})

test('serveGenerated: answers the CPU time; refuses other calls and ranges as a node does', async () => {
  const node = serveGenerated(small('sparse'))
  try {
    const said = async (path: string, body?: string) => {
      const answer = await fetch(`${node.url}${path}`, body === undefined ? {} : { method: 'POST', body })
      return [answer.status, await answer.text()]
    }
    const cpu = JSON.parse(String((await said('/cpu'))[1])) as { user_seconds: number }
    expect(cpu.user_seconds).toBeGreaterThan(0)
    expect(await said('/getRAMInfo')).toEqual([400, '{"code":12,"message":"Not Implemented"}'])
    expect(await said('/getBlockTxsByContract', '{"from_block":5,"to_block":5}')).toEqual([
      400,
      '{"code":2,"message":"invalid range 5 to 5"}',
    ])
    node.setHeight(100)
    expect(JSON.parse(String((await said('/getChainInfo'))[1]))).toMatchObject({
      lib_block: '100',
      chain_id: 1024,
    })
    expect(await said('/getBlockByNumber/101/true')).toEqual([400, '{"code":2,"message":"block not found"}'])
    expect(() => node.setHeight(1e9)).toThrow('Height 1000000000 is not one of 0 … 2500.')
  } finally {
    await node.stop()
  }
})
