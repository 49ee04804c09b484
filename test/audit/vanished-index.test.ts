import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import type { Replay } from '#test/replay/serve.ts'
import { type Asked, type Fate, openProxy, pass } from '../support/nodes/faulty-proxy.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { SOAK } from '../support/processes/soak.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { type Dump, differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../support/stores/loading.ts'

const HEIGHT = 60
/** The last block of the batch that never completes. */
const NEXT = 71
/** The height of the load after the repair. */
const LAST = 76

const isCheckpoint = ({ method, path, body }: Asked): boolean =>
  method === 'PUT' && path.includes('/_doc/checkpoint') && body.includes(`\\"height\\":${NEXT}`)
const writes =
  (index: string) =>
  ({ path, body }: Asked): boolean =>
    path.startsWith('/_bulk') && body.includes(`-${index}"`)

/** The index that is deleted, and the request of a batch before which it is. Without SOAK, the first three. */
const CASES: readonly (readonly [string, string, (asked: Asked) => boolean])[] = [
  ['state-0', 'before its history is written', writes('blocks-000000-into')],
  ['records-000000', 'before it is committed', isCheckpoint],
  ['state-0', 'before its state is written', writes('state')],
  ['records-000000', 'before its history is written', writes('blocks-000000-into')],
  ['state-0', 'before it is committed', isCheckpoint],
  ['records-000000', 'before its state is written', writes('state')],
]

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch: an index is deleted under a load', () => {
  let clean: Dump
  let replay: Replay
  beforeAll(async () => {
    replay = await replayed(LAST)
    const target = openTestElastic()
    await loadFrom(replay.url, target.store, { prove: 'linked' })
    clean = await dumped(target)
    await target.destroy()
  })
  afterAll(() => replay.stop())

  test.each(SOAK ? CASES : CASES.slice(0, 3))(
    '%s, %s: one repair restores it, and the load continues',
    async (index, _, isMeant) => {
      const target = openTestElastic()
      let isDeleted = false
      let fateOf = (_: Asked): Fate => pass
      const proxy = await openProxy(target.url, asked => fateOf(asked))
      await using folder = await cliFolder()
      try {
        await loadTo(target, HEIGHT)
        const at = `${target.url}/${target.prefix}`
        fateOf = asked => {
          if (isDeleted || !isMeant(asked)) return pass
          isDeleted = true
          return { type: 'hold', until: ask('DELETE', `${at}-${index}`) }
        }
        const failed = await loadTo(target, NEXT, proxy.url).catch((error: unknown) => error)
        expect([failed, isDeleted]).toEqual([expect.any(Failure), true])
        fateOf = () => pass
        const repaired = await folder.run(['repair', '--store', at, '--node', replay.url])
        expect([repaired.code, repaired.out]).toEqual([
          0,
          expect.stringMatching(/(?: 0 are left|nothing to repair)\n$/),
        ])
        expect(await loadTo(target, LAST)).toBe(LAST)
        expect(differences(await dumped(target), clean)).toEqual([])
      } finally {
        await proxy.close()
        await target.destroy()
      }
    },
  )

  const loadTo = async (target: TestElastic, to: number, url = target.url): Promise<number> => {
    const store = target.reopen({ url })
    try {
      return await loadFrom(replay.url, store, { to, prove: 'linked' })
    } finally {
      await store.close()
    }
  }
})

async function dumped({ url, prefix }: TestElastic): Promise<Dump> {
  await ask('POST', `${url}/${prefix}-*/_refresh`)
  return dumpElastic(url, prefix)
}
