import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import type { Store } from '#store/port.ts'
import type { Replay } from '#test/replay/serve.ts'
import { until } from '#test/support/wait.ts'
import { secondOpinion, witness } from '../support/oracle/witness.ts'
import { type CliFolder, cliFolder, type Running } from '../support/processes/cli-process.ts'
import { diesAt } from '../support/processes/doomed.ts'
import { serviceOn } from '../support/processes/service.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { type Dump, differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '../support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom, replayed } from '../support/stores/loading.ts'

setDefaultTimeout(SOAK ? 3_600_000 : 600_000)

const LOADERS = SOAK ? 300 : 4
/** Blocks per loader: more than most of them load before they are killed. */
const STEP = SOAK ? 3 : 12
/** Below the first transactions of the recording. */
const START = 740
const HEIGHT = START + LOADERS * STEP
/** After this many killed loaders one completes, and readers see its height. */
const WHOLE_EVERY = 4
/** Documents per batch: a few blocks, so that a loader is killed between its batches. */
const DOCUMENTS = 10
/** Documents per partition: several partitions are opened during the load. */
const PARTITION = 2_000
/** The kill comes at one of this many requests of a loader, from the cleanup after the previous one to its last batches. */
const REQUESTS = 40

/** Reads wait for the next loader as long as it takes: on a busy machine it begins later than the store waits for it. */
const waitingFor = (store: Store): Store => ({
  ...store,
  read: async (work, how) => {
    for (;;)
      try {
        return await store.read(work, how)
      } catch (error) {
        if (!(error instanceof Failure) || error.help?.includes('start it again') !== true) throw error
      }
  },
})

/** After this time without a sign of life a loader regards another one as dead. */
const LEASE = '12s'
/** Lines of the log at level info. Their number before a refusal is random. */
const INFO_LINES = /^\S+ info {2}.*\n/gm

const follow = (folder: CliFolder, node: Replay, { url, prefix }: TestElastic): Running =>
  folder.start([
    ...['load', '--node', node.url, '--store', `${url}/${prefix}`, '--lease', LEASE],
    ...['--partition-documents', String(PARTITION)],
  ])

describe.skipIf(elasticsearchUrl() === undefined)('loading into Elasticsearch', () => {
  let node: Replay
  let clean: Dump
  beforeAll(async () => {
    node = await replayed(START)
    const { url, prefix, store, destroy } = openTestElastic({ partitionDocuments: PARTITION })
    await loadFrom(ARCHIVED, store, { prove: 'linked', to: HEIGHT })
    clean = await dumpElastic(url, prefix)
    await destroy()
  })
  afterAll(() => node.stop())

  const differencesIn = async ({ url, prefix }: TestElastic) => differences(await dumpElastic(url, prefix), clean)

  test('of two loaders started at the same moment one wins, the other and a later one stop and say why, and no blocks are mixed', async () => {
    await using folder = await cliFolder()
    const target = openTestElastic({ partitionDocuments: PARTITION })
    const both = [follow(folder, node, target), follow(folder, node, target)]
    const { lost, outcome } = await Promise.race(
      both.map(async (loader, lost) => ({ lost, outcome: await loader.ended })),
    )
    const says = expect.stringMatching(/^iostlens: Another loader (is writing|took|has just locked) /m)
    expect(outcome).toEqual({ code: 75, out: '', err: says })
    const winner = both[1 - lost] as Running
    await winner.logs('Loaded blocks.')
    const { err, ...later } = await follow(folder, node, target).ended
    expect({ ...later, err: err.replace(INFO_LINES, '') }).toEqual({
      code: 75,
      out: '',
      err:
        `iostlens: Another loader is writing ${target.prefix} at ${target.url}.\n` +
        '  Stop it first; a store can have only one loader.\n',
    })
    node.setHeight(HEIGHT)
    await until(async () => (await target.store.published())?.height === HEIGHT, 20)
    winner.kill('SIGTERM')
    expect(await winner.ended).toMatchObject({ code: 0, out: `Loaded up to block ${HEIGHT}.\n` })
    expect(await differencesIn(target)).toEqual([])
    await target.destroy()
  })

  test('readers see only whole, increasing heights while loaders are killed repeatedly', async () => {
    const seed = seedOf(23)
    const random = seeded(seed)
    node.setHeight(HEIGHT)
    const target = openTestElastic({ partitionDocuments: PARTITION })
    try {
      await loadFrom(node.url, target.store, { prove: 'linked', to: START })
      const watching = await witness(serviceOn(waitingFor(target.store)), { seed })
      let kills = 0
      for (let loader = 1; loader <= LOADERS; loader++) {
        const to = START + loader * STEP
        const place = ['elastic', target.url, target.prefix, String(PARTITION)]
        const after = [to, DOCUMENTS].map(String)
        const task = { program: 'load-process.ts', before: [node.url], place, after }
        if (await diesAt(1 + Math.floor(random() * REQUESTS), task)) kills++
        if (loader % WHOLE_EVERY !== 0) continue
        await loadFrom(node.url, target.store, { to })
        await watching.sees(200)
      }
      await loadFrom(node.url, target.store)
      await watching.sees(200)
      expect(watching.height()).toBe(HEIGHT)
      const seen = await watching.stop()
      expect([seed, seen.wrong, Object.keys(seen.statuses)]).toEqual([seed, [], ['200']])
      expect([seed, await secondOpinion(node.url, seen)]).toEqual([seed, []])
      expect([seed, await differencesIn(target)]).toEqual([seed, []])
      expect(kills).toBeGreaterThan(LOADERS / 3)
      expect(seen.answers.size).toBeGreaterThanOrEqual(LOADERS / WHOLE_EVERY)
      process.stderr.write(`${kills} loaders killed, ${seen.statuses[200]} answers at ${seen.answers.size} heights\n`)
    } finally {
      await target.destroy()
    }
  })
})
