import { expect, test } from 'bun:test'
import { documented, fences } from '#test/support/documented.ts'
import { cliFolder } from '#test/support/processes/cli-process.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'
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

test.skipIf(elasticsearchUrl() === undefined)(
  'docs/operating-elasticsearch.md: a manually restored snapshot is refused, until its digests or a repair accept it, keys included',
  async () => {
    await using target = openTestElastic()
    const { url, prefix } = target
    await using folder = await cliFolder()
    await using node = await replayed(HEIGHT)
    const run = (...args: readonly string[]) =>
      folder.run(args, { IOSTLENS_STORE: `${url}/${prefix}`, IOSTLENS_NODE: node.url, IOSTLENS_LEASE: '1s' })
    const codeOf = async (...args: readonly string[]): Promise<number> => (await run(...args)).code
    const loseAll = async (): Promise<void> => {
      const indices = Object.keys(await target.ask<object>('GET', '*'))
      expect(indices.length).toBeGreaterThan(6)
      for (const index of indices) await ask('DELETE', `${url}/${index}`)
    }
    const [register] = requests()
    if (register === undefined) throw new Error('docs/operating-elasticsearch.md does not register a repository.')
    const repository = ['--repository', prefix]
    try {
      expect(await codeOf('load', '--once')).toBe(0)
      expect(await codeOf('keys', 'add', 'wallet')).toBe(0)
      // Other tests of this server have repositories, too.
      const path = register.path.replace('backup', prefix)
      const body = JSON.parse(JSON.stringify(register.body).replaceAll('iostlens', prefix)) as object
      await ask(register.method, url + path, body)
      expect(await codeOf('backup', 'first', ...repository)).toBe(0)
      for (const command of [['restore', 'first', ...repository], ['repair']]) {
        await loseAll()
        await ask('POST', `${url}/_snapshot/${prefix}/first/_restore?wait_for_completion=true`, {
          indices: `${prefix}-*`,
        })
        const refused = await run('load', '--once')
        expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('is not the index')])
        expect([command, await codeOf(...command)]).toEqual([command, 0])
        expect(await codeOf('verify')).toBe(0)
        expect(await codeOf('load', '--once')).toBe(0)
        expect((await run('keys', 'list')).out).toContain(' wallet\n')
      }
    } finally {
      await ask('DELETE', `${url}/_snapshot/${prefix}`).catch(() => undefined)
    }
  },
)
