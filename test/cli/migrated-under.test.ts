import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { DERIVATION } from '#indices/registry.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { replayed } from '../support/stores/loading.ts'
import { until } from '../support/wait.ts'

/** A running service whose store becomes that of another version, as after the migration of a newer program. */

/** A store, and ways to make it another version's and this version's again. */
type Aged = { readonly store: string; readonly other: () => Promise<void>; readonly own: () => Promise<void> }

function records(path: string, sql: string): Promise<void> {
  const database = new Database(path)
  database.run(sql)
  database.close()
  return Promise.resolve()
}

const sqliteBy =
  (key: string, from: string, to: string) =>
  async (folder: string): Promise<Aged> => {
    const path = join(folder, 'aged.sqlite')
    const change = (before: string, after: string) => () =>
      records(path, `UPDATE meta SET value = replace(value, '${before}', '${after}') WHERE key = '${key}'`)
    return { store: `sqlite:${path}`, other: change(from, to), own: change(to, from) }
  }

/** Changes the edition in the published record. */
async function elasticEdition(url: string, prefix: string, change: (edition: string) => string): Promise<void> {
  const path = `${url}/${prefix}-meta/_doc/published`
  type Stored = { readonly _version: number; readonly _source: { readonly body: string } }
  const { _source, _version } = (await ask('GET', path)) as Stored
  const body = JSON.parse(_source.body)
  await ask('PUT', `${path}?refresh=true&version=${_version}&version_type=external_gte`, {
    body: JSON.stringify({ ...body, edition: change(body.edition) }),
  })
}

const derivation = (number: number): string => `"derivation":${number}`

async function check(make: (folder: string) => Promise<Aged>): Promise<void> {
  await using node = await replayed(20)
  await using folder = await cliFolder()
  const { store, other, own } = await make(folder.path)
  const at = ['--store', store]
  expect((await folder.run(['load', '--once', '--node', node.url, ...at])).code).toBe(0)
  const added = await folder.run(['keys', 'add', 'wallet', '--per-second', '1000000', '--per-day', '1000000000', ...at])
  const key = added.out.trimEnd().split('\n').at(-1) ?? ''
  const service = folder.start(['serve', '--listen', '127.0.0.1:0', ...at])
  const url = await service.firstLine
  const overview = () => fetch(`${url}/api/base/get-overview?apikey=${key}`)
  const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status
  expect([(await overview()).status, await statusOf('/ready')]).toEqual([200, 200])
  await other()
  // No answer is from the documents of the other version.
  await until(async () => (await overview()).status === 503)
  for (let asked = 0; asked < 10; asked += 1) expect([asked, (await overview()).status]).toEqual([asked, 503])
  await service.logs('restart with that one')
  const ready = await fetch(`${url}/ready`)
  expect([ready.status, await ready.json()]).toMatchObject([
    503,
    { reason: expect.stringContaining('restart with the new version') },
  ])
  expect(service.logged()).not.toContain('because of a bug')
  const started = await folder.run(['serve', '--listen', '127.0.0.1:0', ...at])
  expect([started.code, started.err]).toEqual([3, expect.stringContaining('indices migrate')])
  await own()
  await until(async () => (await overview()).status === 200 && (await statusOf('/ready')) === 200)
  await service.logs('The store can be used again.')
}

test('serve: a store whose documents become those of another derivation is refused until a restart', () =>
  check(sqliteBy('identity', derivation(DERIVATION), derivation(DERIVATION + 1))))

test('serve: a store whose tables become those of another version is refused until a restart', () =>
  check(async folder => {
    const path = join(folder, 'aged.sqlite')
    return {
      store: `sqlite:${path}`,
      other: () => records(path, "UPDATE meta SET value = value || 'x' WHERE key = 'schema'"),
      own: () => records(path, "UPDATE meta SET value = rtrim(value, 'x') WHERE key = 'schema'"),
    }
  }))

describe.skipIf(elasticsearchUrl() === undefined)('serve on Elasticsearch', () => {
  test('serve: indices that become those of another edition are refused until a restart', async () => {
    const { url, prefix, destroy } = openTestElastic()
    try {
      await check(async () => ({
        store: `${url}/${prefix}`,
        other: () => elasticEdition(url, prefix, edition => `${edition}x`),
        own: () => elasticEdition(url, prefix, edition => edition.slice(0, -1)),
      }))
    } finally {
      await destroy()
    }
  })
})
