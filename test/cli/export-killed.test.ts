import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { clientOf } from '../support/processes/client.ts'
import { loadedFile } from '../support/stores/loaded.ts'

let folder: CliFolder
let key: string
beforeAll(async () => {
  folder = await cliFolder()
  // A list of many thousands of rows, of which the plan of the key lets one thousand through in a second: whoever is slow to
  // kill the process still does it in the middle.
  await mkdir(join(folder.path, 'data'))
  await copyFile(await loadedFile(), join(folder.path, 'data/iostlens.sqlite'))
  const added = await folder.run(['keys', 'add', 'slow', '--per-second', '1', '--per-day', '10000'])
  key = added.out.trimEnd().split('\n').at(-1) ?? ''
})
afterAll(() => folder[Symbol.asyncDispose]())

const serve = async () => {
  const serving = folder.start(['serve', '--listen', '127.0.0.1:0', '--threads', '1'])
  await serving.firstLine
  const url = /http:\/\/[\d.]+:\d+/.exec(serving.said() + serving.logged())?.[0] ?? ''
  const ask = (path: string, init?: RequestInit) => fetch(url + path, init)
  return { ask, kill: () => serving.kill('SIGKILL') }
}

test.each([
  ['ndjson', 'identity'],
  ['csv', 'gzip'],
])('serve: killed in the middle of an export, a reader sees an error (%s, %s)', async (format, encoding) => {
  const { ask, kill } = await serve()
  const response = await ask(`/api/token/get-token-tx?token=iost&format=${format}&apikey=${key}`, {
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

test('serve: killed in the middle of an export, the client throws after the rows it was sent', async () => {
  const { ask, kill } = await serve()
  const client = await clientOf({ ask, key })
  const rows = client['getTokenTx']?.whole({ token: 'iost' })
  expect((await rows?.next())?.value).toMatchObject({ contract: 'token.iost' })
  kill()
  const rest = async (): Promise<void> => {
    while ((await rows?.next())?.done !== true);
  }
  await expect(rest()).rejects.toThrow()
})
