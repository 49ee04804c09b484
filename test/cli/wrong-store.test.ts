import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { ARCHIVED } from '../support/stores/loading.ts'
import { until } from '../support/wait.ts'

/** A mistyped store is not an empty one: what only reads says so and creates nothing. */

const READERS = [
  ['status'],
  ['verify'],
  ['repair'],
  ['repair', '--dry-run'],
  ['backup', 'copy'],
  ['copy', '--to', 'sqlite:copy.sqlite'],
  ['archive', 'write', 'archive', '--node', ARCHIVED],
  ['keys', 'list'],
  ['keys', 'export', 'keys.ndjson'],
] as const

async function expectAbsent(folder: CliFolder, store: string): Promise<void> {
  for (const args of READERS) {
    const { code, err } = await folder.run([...args, '--store', store])
    expect([args, code, err]).toEqual([args, 2, expect.stringContaining('does not exist')])
  }
  const serving = folder.start(['serve', '--store', store, '--listen', '127.0.0.1:0', '--test-key', 'public'])
  const url = await serving.firstLine
  await until(async () => (await (await fetch(`${url}/ready`)).text()).includes('The store does not exist'))
  expect((await fetch(`${url}/ready`)).status).toBe(503)
  // Requests are counted for a day, which is what a service would store.
  for (let count = 0; count < 3; count++) await (await fetch(`${url}/api/base/get-overview?apikey=public`)).text()
  await serving.logs('does not exist')
  serving.kill('SIGTERM')
  expect((await serving.ended).code).toBe(0)
}

test('a wrong path: status, serve and others say that there is no store, and create no file', async () => {
  await using folder = await cliFolder()
  mkdirSync(join(folder.path, 'there'))
  for (const path of ['nowhere/at/all/chain.sqlite', 'there/chain.sqlite'])
    await expectAbsent(folder, `sqlite:${join(folder.path, path)}`)
  expect(readdirSync(folder.path, { recursive: true })).toEqual(['there'])
})

test.skipIf(elasticsearchUrl() === undefined)(
  'a wrong prefix: status, serve and others say that there is no store, and create no index',
  async () => {
    const { url, prefix, destroy } = openTestElastic()
    await using folder = await cliFolder()
    try {
      await expectAbsent(folder, `${url}/${prefix}`)
      expect(await ask<object>('GET', `${url}/${prefix}*`)).toEqual({})
    } finally {
      await destroy()
    }
  },
)
