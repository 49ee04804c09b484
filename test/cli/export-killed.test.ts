import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { clientOf } from '../support/processes/client.ts'
import { loadedFile } from '../support/stores/loaded.ts'

const KEY = 'sharedtestkey'

let folder: CliFolder
beforeAll(async () => {
  folder = await cliFolder()
  // The list has some thousands of rows, more than the test key's plan allows at once.
  await mkdir(join(folder.path, 'data'))
  await copyFile(await loadedFile(), join(folder.path, 'data/iostlens.sqlite'))
})
afterAll(() => folder[Symbol.asyncDispose]())

async function serve() {
  const serving = folder.start(['serve', '--listen', '127.0.0.1:0', '--test-key', KEY])
  await serving.firstLine
  const url = /http:\/\/[\d.]+:\d+/.exec(serving.said() + serving.logged())?.[0] ?? ''
  const ask = (path: string, init?: RequestInit) => fetch(url + path, init)
  return { ask, kill: () => serving.kill('SIGKILL') }
}

test.each([
  ['ndjson', 'identity'],
  ['csv', 'gzip'],
])('serve: a reader of an export sees an error after a kill (%s, %s)', async (format, encoding) => {
  const { ask, kill } = await serve()
  const response = await ask(`/api/token/get-token-tx?token=iost&format=${format}&apikey=${KEY}`, {
    headers: { 'accept-encoding': encoding },
  })
  expect([response.status, Number(response.headers.get('x-total-count')) > 5_000]).toEqual([200, true])
  const reader = response.body?.getReader()
  await reader?.read()
  kill()
  const rest = async (): Promise<void> => {
    for (;;) if ((await reader?.read())?.done !== false) return
  }
  await expect(rest()).rejects.toThrow()
})

test('serve: the client throws after a kill during an export, behind the rows that it received', async () => {
  const { ask, kill } = await serve()
  const client = await clientOf({ ask, key: KEY })
  const rows = client['getTokenTx']?.whole({ token: 'iost' })
  expect((await rows?.next())?.value).toMatchObject({ contract: 'token.iost' })
  kill()
  const rest = async (): Promise<void> => {
    while ((await rows?.next())?.done !== true);
  }
  await expect(rest()).rejects.toThrow()
})
