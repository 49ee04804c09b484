import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Replay } from '#test/replay/serve.ts'
import { documented, fences } from '../support/documented.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { freePorts, type OwnServer, ownServers } from '../support/stores/elastic-process.ts'
import { replayed } from '../support/stores/loading.ts'

// A server of its own is started.
setDefaultTimeout(600_000)

const HEIGHT = 60

const servers = await ownServers()

/** Requests of the documented blocks, in order, with their bodies. */
const requests = (): readonly { readonly method: string; readonly path: string; readonly body: object }[] =>
  fences(documented('docs/operating.md', '## Backup'))
    .filter(({ language }) => language === 'http')
    .flatMap(({ text }) => text.trim().split('\n\n'))
    .map(request => {
      const [head = '', ...body] = request.split('\n')
      const [method = '', path = ''] = head.split(' ')
      return { method, path, body: JSON.parse(body.join('\n')) as object }
    })

describe.skipIf(servers === undefined)('docs/operating.md: a snapshot of Elasticsearch', () => {
  let server: OwnServer
  let node: Replay
  let folder: CliFolder

  beforeAll(async () => {
    if (servers === undefined) return
    folder = await cliFolder()
    const path = join(folder.path, 'snapshots')
    mkdirSync(path)
    // Elasticsearch may run as another user.
    chmodSync(folder.path, 0o755)
    chmodSync(path, 0o777)
    server = servers.make('snapshot', await freePorts(), {
      settings: ['discovery.type: single-node', 'xpack.security.enabled: false', `path.repo: ${path}`],
    })
    await server.start()
    node = await replayed(HEIGHT)
  })
  afterAll(async () => {
    servers?.[Symbol.dispose]()
    await folder?.[Symbol.asyncDispose]()
    await node?.stop()
  })

  const run = (...args: readonly string[]) =>
    folder.run(args, { IOSTLENS_STORE: `${server.url}/iostlens`, IOSTLENS_NODE: node.url })
  const codeOf = async (...args: readonly string[]): Promise<number> => (await run(...args)).code
  const loseAll = async (): Promise<void> => {
    const indices = await ask<readonly { readonly index: string }[]>(
      'GET',
      `${server.url}/_cat/indices/iostlens-*?format=json`,
    )
    expect(indices.length).toBeGreaterThan(10)
    for (const { index } of indices) await ask('DELETE', `${server.url}/${index}`)
  }

  test('is refused when it is restored, and whole after a repair, keys included', async () => {
    const [register, take, restore] = requests()
    if (register === undefined || take === undefined || restore === undefined)
      throw new Error('docs/operating.md lacks one of the three requests.')
    expect(await codeOf('load', '--once')).toBe(0)
    expect(await codeOf('keys', 'add', 'wallet')).toBe(0)
    for (const { method, path, body } of [register, take]) await ask(method, server.url + path, body)
    await loseAll()
    await ask(restore.method, server.url + restore.path, restore.body)
    const refused = await run('load', '--once')
    expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('iostlens repair')])
    expect(await codeOf('repair')).toBe(0)
    expect(await codeOf('verify')).toBe(0)
    expect(await codeOf('status', '--all')).toBe(0)
    expect(await codeOf('load', '--once')).toBe(0)
    expect((await run('keys', 'list')).out).toContain(' wallet\n')
  })
})
