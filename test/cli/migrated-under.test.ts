import { expect, test } from 'bun:test'
import { DERIVATION } from '#indices/registry.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { fillFromRecording } from '../support/stores/loaded.ts'
import { until } from '../support/wait.ts'
import { addKey, damage, expectEnd, loadedFolder } from './folder.ts'

const HEIGHT = 60

const changeDerivation = (folder: CliFolder, from: number, to: number): void =>
  damage(
    folder,
    `UPDATE meta SET value = replace(value, '"derivation":${from}', '"derivation":${to}') WHERE key = 'identity'`,
  )

// A list added in this version has no rows in older documents, so an answer from it would be wrong.
test('documents of another derivation version are named, refused, and the remedy is named', async () => {
  await using folder = await loadedFolder(HEIGHT)
  changeDerivation(folder, DERIVATION, DERIVATION - 1)
  const found = `documents: different: derivation version ${DERIVATION - 1}; expected ${DERIVATION}`
  await expectEnd(folder, ['indices', 'check'], 3, found)
  for (const command of ['status', 'verify'])
    await expectEnd(folder, [command], 3, /documents.*iostlens indices migrate/s)
})

/**
 * A running service whose store becomes that of another version, as after the migration of a newer program. `other`
 * makes it another version's, and `own` this version's again.
 */
async function check(folder: CliFolder, at: readonly string[], other: () => unknown, own: () => unknown) {
  const key = await addKey(folder, ['--per-second', '1000000', '--per-day', '1000000000', ...at])
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
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('restart with the new version')])
  expect(service.logged()).not.toContain('because of a bug')
  await expectEnd(folder, ['serve', '--listen', '127.0.0.1:0', ...at], 3, 'indices migrate')
  await own()
  await until(async () => (await overview()).status === 200 && (await statusOf('/ready')) === 200)
  await service.logs('The store can be used again.')
}

test('serve: a store whose documents become those of another derivation is refused until a restart', async () => {
  await using folder = await loadedFolder(HEIGHT)
  const change = (from: number, to: number) => () => changeDerivation(folder, from, to)
  await check(folder, [], change(DERIVATION, DERIVATION + 1), change(DERIVATION + 1, DERIVATION))
})

test('serve: a store whose tables become those of another version is refused until a restart', async () => {
  await using folder = await loadedFolder(HEIGHT)
  const set = (value: string) => () => damage(folder, `UPDATE meta SET value = ${value} WHERE key = 'schema'`)
  await check(folder, [], set("value || 'x'"), set("rtrim(value, 'x')"))
})

test.skipIf(elasticsearchUrl() === undefined)(
  'serve: indices that become those of another edition are refused until a restart',
  async () => {
    const { store, url, prefix, destroy } = openTestElastic()
    await using folder = await cliFolder()
    /** Changes the edition in the published record. */
    const change = (changed: (edition: string) => string) => async () => {
      const path = `${url}/${prefix}-meta/_doc/published`
      type Stored = { readonly _version: number; readonly _source: { readonly body: string } }
      const { _source, _version } = (await ask('GET', path)) as Stored
      const body = JSON.parse(_source.body)
      await ask('PUT', `${path}?refresh=true&version=${_version}&version_type=external_gte`, {
        body: JSON.stringify({ ...body, edition: changed(body.edition) }),
      })
    }
    try {
      await fillFromRecording(store, { to: HEIGHT })
      const [other, own] = [change(edition => `${edition}x`), change(edition => edition.slice(0, -1))]
      await check(folder, ['--store', `${url}/${prefix}`], other, own)
    } finally {
      await destroy()
    }
  },
)
