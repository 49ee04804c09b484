import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { DERIVATION } from '#indices/registry.ts'
import type { Replay } from '#test/replay/serve.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { runKilled } from '../support/processes/killed-runs.ts'
import { serviceOn } from '../support/processes/service.ts'
import { allAt, watchSwitch } from '../support/processes/switch.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { type Dump, differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../support/stores/loading.ts'

setDefaultTimeout(600_000)

const HEIGHT = 820
const PARTITION = 3_000
/** Requests of a migration among which the first one is killed, half of those of the second: far fewer than it has. */
const FIRST_KILLS = 60

let node: Replay
let clean: TestElastic
let expected: Dump
beforeAll(async () => {
  if (elasticsearchUrl() === undefined) return
  node = await replayed(HEIGHT)
  clean = openTestElastic({ partitionDocuments: PARTITION })
  await loadFrom(node.url, clean.store)
  expected = await dumpElastic(clean.url, clean.prefix)
})
afterAll(async () => {
  await node?.stop()
  await clean?.destroy()
})

type Hits = { readonly hits: { readonly hits: readonly Hit[] } }
type Hit = { readonly _id: string; readonly _version: number; readonly _source: Record<string, unknown> }

const asking =
  ({ url, prefix }: TestElastic) =>
  <T>(method: string, path: string, body?: object): Promise<T> =>
    ask<T>(method, `${url}/${prefix}-${path}`, body)

/** What an older version would have derived: accounts without permissions, tokens with another name. */
const olderStore = async (): Promise<TestElastic> => {
  const target = openTestElastic({ partitionDocuments: PARTITION })
  await loadFrom(node.url, target.store)
  const ask = asking(target)
  for (const [name, change] of [
    ['accounts', { permissions: '[]' }],
    ['tokens', { full_name: 'older' }],
  ] as const) {
    const { hits } = await ask<Hits>('GET', `${name}/_search?size=1000&version=true`)
    for (const { _id, _version, _source } of hits.hits)
      await ask(
        'PUT',
        `${name}/_doc/${encodeURIComponent(_id)}?version=${_version}&version_type=external_gte&refresh=true`,
        { ..._source, ...change },
      )
  }
  const { _source } = await ask<{ _source: { body: string } }>('GET', 'meta/_doc/checkpoint')
  const checkpoint = JSON.parse(_source.body)
  await ask('PUT', 'meta/_doc/checkpoint?refresh=true', {
    body: JSON.stringify({ ...checkpoint, derivation: DERIVATION - 1 }),
  })
  return target
}

describe.skipIf(elasticsearchUrl() === undefined)('indices migrate: another derivation', () => {
  test('from the stored blocks: answers of one derivation or the other, however often it is killed', async () => {
    const seed = seedOf(37)
    const random = seeded(seed)
    const target = await olderStore()
    await using folder = await cliFolder()
    const store = ['--store', `${target.url}/${target.prefix}`, '--lease', '1s']
    const migrateAt = (at: string) => [
      'indices',
      'migrate',
      '--store',
      at,
      '--lease',
      '1s',
      '--partition-documents',
      String(PARTITION),
    ]
    const migrate = migrateAt(`${target.url}/${target.prefix}`)
    try {
      const [before, after] = await Promise.all([
        allAt(serviceOn(target.reopen())),
        allAt(serviceOn(clean.store)),
      ])
      expect(before.map((answer, at) => answer === after[at])).toEqual([false, false, true, true, true, true])
      expect((await target.store.check()).map(({ name, problem }) => [name, problem])).toEqual([
        ['documents', 'different'],
      ])
      const refused = await folder.run(['load', '--node', node.url, '--once', ...store])
      expect([refused.code, refused.err]).toEqual([
        3,
        expect.stringContaining('Run iostlens indices migrate'),
      ])
      const dry = await folder.run([...migrate, '--dry-run'])
      expect(dry).toMatchObject({
        code: 3,
        out: `documents of derivation ${DERIVATION - 1}; expected ${DERIVATION}\nEverything would be derived again, audited and replaced.\n`,
      })
      const stop = watchSwitch(serviceOn(target.reopen()), before, after)
      const kills = await runKilled(
        seed,
        ['elastic', target.url, target.prefix],
        kills => 1 + Math.floor(random() * FIRST_KILLS * 2 ** kills),
        async doom => folder.start(migrateAt(doom.store)),
      )
      const { wrong, asked } = await stop()
      expect([seed, wrong]).toEqual([seed, []])
      expect(await allAt(serviceOn(target.reopen()))).toEqual([...after])
      expect((await folder.run([...migrate, '--delete-old'])).code).toBe(0)
      expect(await target.store.check()).toEqual([])
      expect(differences(await dumpElastic(target.url, target.prefix), expected)).toEqual([])
      expect(kills).toBeGreaterThanOrEqual(2)
      process.stderr.write(`${kills} migrations killed, ${asked} answers\n`)
    } finally {
      await target.destroy()
    }
  })

  test('from a node where blocks are lost; a loader goes on until the end, then it must stop', async () => {
    const target = await olderStore()
    await using folder = await cliFolder()
    const store = ['--store', `${target.url}/${target.prefix}`, '--lease', '10s']
    const migrate = ['indices', 'migrate', ...store, '--partition-documents', String(PARTITION)]
    try {
      const identity = await target.store.identity()
      if (identity === undefined) throw new Error('Nothing is loaded.')
      // Before the loss: a loader begins on nothing that is not whole.
      const loader = await target.reopen({ leaseMs: 10_000 }).takeOver(identity)
      const ask = asking(target)
      await ask('DELETE', 'blocks-000000/_doc/000000000300?refresh=true')
      const poor = await folder.run(migrate)
      expect([poor.code, poor.err]).toEqual([
        3,
        expect.stringContaining(
          'The stored blocks are damaged, so nothing can be derived from them. Set a node with --node.',
        ),
      ])
      const late = await folder.run([...migrate, '--node', node.url])
      expect([late.code, late.err]).toEqual([75, expect.stringContaining('Another loader is writing')])
      expect(late.out).toContain(`The new data is whole at block ${HEIGHT}.\n`)
      await loader.release()
      const { code, out } = await folder.run([...migrate, '--node', node.url, '--delete-old'])
      expect([code, out]).toEqual([0, expect.stringContaining('now serves the new data.')])
      expect(await target.store.check()).toEqual([])
      expect(differences(await dumpElastic(target.url, target.prefix), expected)).toEqual([])
      expect(await target.store.read(view => view.get(accounts, 'admin'))).toEqual(
        await clean.store.read(view => view.get(accounts, 'admin')),
      )
    } finally {
      await target.destroy()
    }
  })
})
