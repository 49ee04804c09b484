import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { cliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { ROOT } from '../support/root.ts'
import { readOptions } from './main.ts'

const SCRIPT = join(ROOT, 'scripts/replay')
const DEVNET = join(ROOT, 'test/chain/devnet')

test('readOptions: folder, address and last block are read', () => {
  expect(readOptions(['--help'])).toBeUndefined()
  expect(readOptions(['x'])).toEqual({ folder: 'x', host: '127.0.0.1', port: 30_001 })
  expect(readOptions(['x', '--listen', '127.0.0.1:0', '--to', '7'])).toEqual({
    folder: 'x',
    host: '127.0.0.1',
    port: 0,
    to: 7,
  })
})

test.each([
  [[], 'Give one folder with a recorded chain, such as test/chain/devnet.'],
  [['x', 'y'], 'Give one folder with a recorded chain, such as test/chain/devnet.'],
  [['x', '--to', '1e3'], '--to 1e3 is not a whole number.'],
  [['x', '--from', '5'], "Unknown option '--from'"],
])('readOptions: %p is refused by name', (words, message) => {
  expect(() => readOptions(words)).toThrow(message)
})

test('replay: the recorded chain is served until the program is stopped', async () => {
  await using folder = await cliFolder()
  const node = spawnIn(folder.path, [SCRIPT, DEVNET, '--listen', '127.0.0.1:0', '--to', '60'])
  const answer = await fetch(`${await node.firstLine}/getChainInfo`)
  expect(await answer.json()).toMatchObject({ lib_block: '60' })
  node.kill('SIGTERM')
  expect((await node.ended).code).toBe(0)
})

test('replay: a folder without a recording and a height beyond it are usage errors', async () => {
  await using folder = await cliFolder()
  const run = (...words: string[]) => spawnIn(folder.path, [SCRIPT, ...words]).ended
  expect(await run(folder.path)).toMatchObject({ code: 2, out: '' })
  const high = await run(DEVNET, '--listen', '127.0.0.1:0', '--to', '4852')
  expect([high.code, high.err]).toEqual([2, "replay: Height 4852 is not one of the recording's 0 … 4851.\n"])
})
