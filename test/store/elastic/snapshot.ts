import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Replay } from '#test/replay/serve.ts'
import { documented, fences } from '#test/support/documented.ts'
import { type CliFolder, cliFolder } from '#test/support/processes/cli-process.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import type { OwnServer } from '#test/support/stores/elastic-process.ts'
import { replayed } from '#test/support/stores/loading.ts'

const HEIGHT = 60

/** Requests in the documented code blocks, in order, with their bodies. */
const requests = (): readonly { readonly method: string; readonly path: string; readonly body: object }[] =>
  fences(documented('docs/operating-elasticsearch.md', '## Backup'))
    .filter(({ language }) => language === 'http')
    .flatMap(({ text }) => text.trim().split('\n\n'))
    .map(request => {
      const [head = '', ...body] = request.split('\n')
      const [method = '', path = ''] = head.split(' ')
      return { method, path, body: JSON.parse(body.join('\n')) as object }
    })

/** The documented snapshot, on a server whose settings include a folder for snapshots. */
export function snapshotSuite(at: () => OwnServer): void {
  let server: OwnServer
  let node: Replay
  let folder: CliFolder

  beforeAll(async () => {
    server = at()
    folder = await cliFolder()
    node = await replayed(HEIGHT)
  })
  afterAll(async () => {
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
    expect(indices.length).toBeGreaterThan(6)
    for (const { index } of indices) await ask('DELETE', `${server.url}/${index}`)
  }

  test('a manually restored snapshot is refused, until its digests or a repair accept it, keys included', async () => {
    const [register] = requests()
    if (register === undefined) throw new Error('docs/operating-elasticsearch.md does not register a repository.')
    expect(await codeOf('load', '--once')).toBe(0)
    expect(await codeOf('keys', 'add', 'wallet')).toBe(0)
    await ask(register.method, server.url + register.path, register.body)
    expect(await codeOf('backup', 'first', '--repository', 'backup')).toBe(0)
    for (const command of [['restore', 'first', '--repository', 'backup'], ['repair']]) {
      await loseAll()
      await ask('POST', `${server.url}/_snapshot/backup/first/_restore?wait_for_completion=true`, {
        indices: 'iostlens-*',
      })
      const refused = await run('load', '--once')
      expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('is not the index')])
      expect([command, await codeOf(...command)]).toEqual([command, 0])
      expect(await codeOf('verify')).toBe(0)
      expect(await codeOf('status', '--all')).toBe(0)
      expect(await codeOf('load', '--once')).toBe(0)
      expect((await run('keys', 'list')).out).toContain(' wallet\n')
    }
  })
}
