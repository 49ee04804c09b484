import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openSqliteUsage } from '#store/sqlite/usage.ts'
import { until } from '#test/support/wait.ts'
import { cliFolder } from '../support/processes/cli-process.ts'

test('keys: the requests of the current day still count after a restart, also after a SIGKILL', async () => {
  await using folder = await cliFolder()
  const added = await folder.run(['keys', 'add', 'wallet', '--per-second', '100', '--per-day', '3'])
  const key = added.out.trimEnd().split('\n').at(-1) ?? ''
  const start = async () => {
    const service = folder.start(['serve', '--listen', '127.0.0.1:0'])
    const url = await service.firstLine
    const ask = async () => {
      const { status, headers } = await fetch(`${url}/rpc/getNodeInfo?apikey=${key}`)
      return [status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]
    }
    return { service, ask }
  }
  // Without a node, each call within the limit gets 503.
  const first = await start()
  expect(await first.ask()).toEqual([503, '3', '2'])
  const usage = openSqliteUsage(join(folder.path, 'data', 'usage.sqlite'))
  await until(async () => (await usage.since(0))[0]?.requests === 1, 20)
  await usage.close()
  first.service.kill('SIGKILL')
  await first.service.ended

  const second = await start()
  expect(await second.ask()).toEqual([503, '3', '1'])
  second.service.kill('SIGTERM')
  expect((await second.service.ended).code).toBe(0)

  const third = await start()
  expect(await third.ask()).toEqual([503, '3', '0'])
  expect(await third.ask()).toEqual([429, '3', '0'])
})
