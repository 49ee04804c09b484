import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { DERIVATION } from '#indices/registry.ts'
import type { Replay } from '../replay/serve.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { replayed } from '../support/stores/loading.ts'

let node: Replay
let folder: CliFolder
beforeAll(async () => {
  node = await replayed(20)
  folder = await cliFolder()
  await folder.run(['load', '--once', '--node', node.url])
  const store = new Database(join(folder.path, 'data/iostlens.sqlite'))
  store.run(
    `UPDATE meta SET value = replace(value, '"derivation":${DERIVATION}', '"derivation":${DERIVATION - 1}') WHERE key = 'identity'`,
  )
  store.close()
})
afterAll(async () => {
  await folder[Symbol.asyncDispose]()
  await node.stop()
})

const found = `documents: different: derivation version ${DERIVATION - 1}; expected ${DERIVATION}`

test('indices check names documents of another derivation version', async () => {
  const { code, out } = await folder.run(['indices', 'check'])
  expect([code, out.trimEnd()]).toEqual([3, found])
})

// A list added in this version has no rows in older documents, so an answer from it would be wrong.
for (const command of ['serve', 'up', 'status', 'verify'])
  test(`${command} refuses documents of another derivation version and names the remedy`, async () => {
    const args = command === 'verify' ? [] : ['--node', node.url]
    const listen = command === 'serve' || command === 'up' ? ['--listen', '127.0.0.1:0'] : []
    const { code, err } = await folder.run([command, ...args, ...listen])
    expect(code).toBe(3)
    expect(err).toContain('documents')
    expect(err).toContain('iostlens indices migrate')
  })
