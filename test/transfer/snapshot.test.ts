import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { lists, transactionId } from '#indices/list.ts'
import { pledges } from '#indices/pledge.ts'
import { records } from '#indices/record.ts'
import type { AnyIndex } from '#indices/registry.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { transactions } from '#indices/transaction.ts'
import { createNode } from '#node/archive-node.ts'
import { backupSnapshot } from '#transfer/backup.ts'
import { restoreFromSnapshot } from '#transfer/restore.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { runKilled } from '../support/processes/killed-runs.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { type Damageable, damageableElastic } from '../support/stores/damage.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom } from '../support/stores/loading.ts'

const HEIGHT = 150
const SEED = seedOf(29)

const url = elasticsearchUrl()

/** Growth of the limit of the request at which a process is killed, and so the number of kills. */
const GROWTH = SOAK ? 1.5 : 3

/** Lists the files of a repository. undefined: the server is on another machine. */
async function filesBelow(location: string) {
  const settings = await ask<object>('GET', `${url}/_nodes/settings?filter_path=nodes.*.settings.path.repo`)
  const [, repo = ''] = /"repo":\[?"([^"]*)"/.exec(JSON.stringify(settings)) ?? []
  if (!existsSync(repo)) return undefined
  return async (): Promise<readonly string[]> =>
    (await readdir(join(repo, location), { recursive: true, withFileTypes: true }))
      .filter(each => each.isFile())
      .map(each => join(each.parentPath, each.name))
      .sort()
}

describe.skipIf(url === undefined)('snapshots of Elasticsearch', () => {
  let folder: CliFolder
  let place: Damageable
  let [prefix, repository] = ['', '']
  let whole: Awaited<ReturnType<Damageable['dump']>>
  const node = createNode({ urls: [ARCHIVED] })
  const quietly = { signal: new AbortController().signal, onProgress: () => undefined }
  const snapshots = () => {
    const { snapshots: has } = place.store
    if (has === undefined) throw new Error('It has no snapshots.')
    return { ...place.store, snapshots: has }
  }
  const loseAll = async (): Promise<void> => {
    const all = await ask<readonly { readonly index: string }[]>('GET', `${url}/_cat/indices/${prefix}-*?format=json`)
    for (const { index } of all) await ask('DELETE', `${url}/${index}`)
  }
  const restore = (snapshot: { readonly repository: string; readonly name: string }) =>
    restoreFromSnapshot(snapshots(), snapshot, { ...quietly, node })
  const restored = async (name = 'first') =>
    await restore({ repository, name })
      .then(({ height }) => height)
      .catch((error: Error) => error.message)
  const first = (index: AnyIndex): string | undefined =>
    [...whole.keys()].find(key => key.startsWith(`${index.name}/`))?.slice(index.name.length + 1)
  const backUp = (name: string, of = snapshots()) => backupSnapshot(of, { repository, name }, quietly)
  const onServer = () => snapshots().snapshots.restore({ repository, name: 'first' }, quietly)

  beforeAll(async () => {
    folder = await cliFolder()
    place = await damageableElastic()
    prefix = place.args[2] ?? ''
    repository = `of-${prefix}`
    await ask('PUT', `${url}/_snapshot/${repository}`, { type: 'fs', settings: { location: prefix } })
    await loadFrom(ARCHIVED, place.store, { to: HEIGHT })
    await place.store.keys.add({ id: 'key', hash: 'ab', name: 'wallet', perSecond: 1, perDay: 1, created: 1 })
    whole = await place.dump()
    expect(await backUp('first')).toMatchObject({ height: HEIGHT })
  })
  afterAll(async () => {
    node.close()
    await place?.destroy()
    await ask('DELETE', `${url}/_snapshot/${repository}/*`)
    await ask('DELETE', `${url}/_snapshot/${repository}`)
    await folder?.[Symbol.asyncDispose]()
  })

  test('a name taken by another state is refused; with the same state the snapshot is reported as taken', async () => {
    expect(await backUp('first')).toMatchObject({ height: HEIGHT })
    await snapshots().snapshots.keep('another')
    expect(snapshots().snapshots.take({ repository, name: 'first' }, quietly)).rejects.toThrow('of another state')
  })

  test('a restored store is refused until its restore is accepted, then it is read and loading continues', async () => {
    await loseAll()
    await onServer()
    expect(loadFrom(ARCHIVED, place.store, { to: HEIGHT })).rejects.toThrow('is not the index that was loaded')
    expect(await restored()).toBe(HEIGHT)
    expect(await place.dump()).toEqual(whole)
    await place.store.read(async view => expect(view.at.height).toBe(HEIGHT))
    expect(await loadFrom(ARCHIVED, place.store, { to: HEIGHT + 10 })).toBe(HEIGHT + 10)
  })

  test('documents are read if the indices were written since the digest, or restored manually', async () => {
    const read = async (): Promise<readonly string[]> => {
      const stages = new Set<string>()
      const onProgress = ({ stage }: { readonly stage: string }) => void stages.add(stage)
      await restoreFromSnapshot(snapshots(), { repository, name: 'first' }, { ...quietly, node, onProgress })
      return [...stages].filter(stage => !stage.startsWith('MB'))
    }
    await loseAll()
    expect(await read()).toEqual([])
    expect(await place.dump()).toEqual(whole)
    // The indices exist, but nothing proves that they are those that the server restored.
    expect(await read()).toContain('transactions')
    await loseAll()
    await onServer()
    // Rewritten without a change: the same document by another operation.
    const path = `${url}/${prefix}-transactions-000000/_doc/${transactionId(0, 0)}`
    const { _source } = await ask<{ readonly _source: object }>('GET', path)
    await ask('PUT', `${path}?refresh=true`, _source)
    expect(await read()).toContain('transactions')
  })

  test(`a changed byte in the files of a snapshot is refused by the server’s checksums (SEED=${SEED})`, async () => {
    const location = `${prefix}-bytes`
    const files = await filesBelow(location)
    if (files === undefined) return
    await ask('PUT', `${url}/_snapshot/${location}`, { type: 'fs', settings: { location } })
    const bytes = { repository: location, name: 'bytes' }
    try {
      await backupSnapshot(snapshots(), bytes, quietly)
      const random = seeded(SEED)
      const data = (await files()).filter(path => basename(path).startsWith('__'))
      await loseAll()
      const path = data[Math.floor(random() * data.length)] ?? ''
      const changed = await readFile(path)
      const at = Math.floor(random() * changed.length)
      changed.writeUInt8(changed.readUInt8(at) ^ (1 << Math.floor(random() * 8)), at)
      await writeFile(path, changed)
      await expect(restore(bytes)).rejects.toThrow('could not be restored from the snapshot bytes')
      await loseAll()
      expect(await restored()).toBe(HEIGHT)
    } finally {
      await ask('DELETE', `${url}/_snapshot/${location}/*`)
      await ask('DELETE', `${url}/_snapshot/${location}`)
    }
  })

  test.each([
    ['a document', () => place.copy(records, first(records) ?? '', '000000000000-000000-000009')],
    ['an API key', () => place.store.keys.revoke('key', 2)],
  ] as const)('a store of which %s is written while the snapshot is taken is refused', async (_, write) => {
    const taking = snapshots()
    const take: typeof taking.snapshots.take = async (snapshot, how) => {
      await taking.snapshots.take(snapshot, how)
      await write()
    }
    const name = crypto.randomUUID()
    const touched = backUp(name, { ...taking, snapshots: { ...taking.snapshots, take } })
    await expect(touched).rejects.toThrow(`was written to while the snapshot ${name} was taken`)
    await loseAll()
    expect(await restored()).toBe(HEIGHT)
  })

  test('indices of one snapshot are not accepted as those of another, and a name is not a pattern', async () => {
    await loseAll()
    await onServer()
    await expect(restore({ repository, name: 'fir*' })).rejects.toThrow('is not what the snapshot fir* has')
    await expect(restore({ repository, name: 'none' })).rejects.toThrow('none')
    await expect(snapshots().snapshots.take({ repository, name: 'fir*' }, quietly)).rejects.toThrow('must match')
    expect(await restored()).toBe(HEIGHT)
  })

  test('a missing, changed or duplicated document is refused with the name of its index, and so are other API keys', async () => {
    await loseAll()
    await onServer()
    await ask('POST', `${url}/${prefix}-keys-0/_update/key?refresh=true`, { doc: { revoked: 2 } })
    expect(await restored()).toEqual(expect.stringContaining('its API keys are not those of the manifest'))
    await loseAll()
    await onServer()
    // Damaged from the last index on: of several differing indices the first one is named. `files.test.ts`
    // damages every index.
    for (const [index, damage] of [
      [statistics, () => place.change(statistics, STATISTICS, 'record_count', 1n)],
      [pledges, () => place.remove(pledges, first(pledges) ?? '')],
      [lists, () => place.copy(lists, first(lists) ?? '', 'another')],
      [records, () => place.copy(records, first(records) ?? '', (first(records) ?? '').replace(/.$/, '9'))],
      [transactions, () => place.change(transactions, transactionId(0, 0), 'body', 'x')],
    ] as const) {
      await damage()
      expect([index.name, await restored()]).toEqual([index.name, expect.stringContaining(`: ${index.name} `)])
    }
    await loseAll()
    // A second run finds everything in place.
    for (const _ of ['restored', 'in place']) expect(await restored()).toBe(HEIGHT)
    expect((await place.store.keys.list()).map(({ id, revoked }) => [id, revoked])).toEqual([['key', undefined]])
  })

  test.each([
    ['restore', ['restore', 'first', '--node', ARCHIVED]],
    ['backup', ['backup', 'second']],
  ] as const)('a %s that was killed at any request completes when it is run again', async (kind, command) => {
    if (kind === 'restore') await loseAll()
    const random = seeded(SEED)
    const kills = await runKilled(
      SEED,
      place.args,
      before => 1 + Math.floor(random() * 12 * GROWTH ** before),
      async ({ store }) => folder.start([...command, '--repository', repository, '--store', store, '--lease', '1s']),
    )
    expect(kills).toBeGreaterThan(1)
    if (kind === 'backup') {
      await loseAll()
      expect(await restored('second')).toBe(HEIGHT)
    }
    expect(await place.dump()).toEqual(whole)
    await place.store.read(async view => expect(view.at.height).toBe(HEIGHT))
  })
})
