import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Replay } from '#test/replay/serve.ts'
import { until } from '#test/support/wait.ts'
import { type CliFolder, cliFolder, type Running } from '../support/processes/cli-process.ts'
import { type Dump, differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../support/stores/loading.ts'

/** The blocks between these heights have transactions. */
const BEGIN = 730
const HEIGHT = 790

let node: Replay
beforeAll(async () => {
  node = await replayed(BEGIN)
})
afterAll(() => node.stop())

/**
 * A loader regards another one as dead after it has seen no sign of life for the length of its own lease. It
 * renews its own lease three times in that time. So the running loader has a short lease, and the loader that
 * watches it a long one.
 */
const SHORT_LEASE = '3s'
const LONG_LEASE = '12s'
/** Lines of the log at level info. Their number before the refusal is random. */
const INFO_LINES = /^\S+ info {2}.*\n/gm

const follow = (folder: CliFolder, { url, prefix }: TestElastic, lease: string): Running =>
  folder.start(['load', '--node', node.url, '--store', `${url}/${prefix}`, '--lease', lease])

/** Lets the chain grow under the remaining loader, and stops it at the end. */
async function finish(loader: Running, target: TestElastic): Promise<void> {
  node.setHeight(HEIGHT)
  await until(async () => (await target.store.published())?.height === HEIGHT, 20)
  loader.kill('SIGTERM')
  expect(await loader.ended).toMatchObject({ code: 0, out: `Loaded up to block ${HEIGHT}.\n` })
}

let clean: Dump | undefined

async function expectClean(target: TestElastic): Promise<void> {
  clean ??= await dumpOfOne()
  expect(differences(await dumpElastic(target.url, target.prefix), clean)).toEqual([])
}

/** What one loader stores. */
async function dumpOfOne(): Promise<Dump> {
  const { url, prefix, store, destroy } = openTestElastic()
  await loadFrom(node.url, store, { prove: 'linked' })
  const dump = await dumpElastic(url, prefix)
  await destroy()
  return dump
}

describe.skipIf(elasticsearchUrl() === undefined)('two loaders of one store', () => {
  test('the second loader stops and says why, and the first one continues', async () => {
    node.setHeight(BEGIN)
    await using folder = await cliFolder()
    const target = openTestElastic()
    const first = follow(folder, target, SHORT_LEASE)
    await first.logs('Loaded blocks.')
    const { err, ...second } = await follow(folder, target, LONG_LEASE).ended
    expect({ ...second, err: err.replace(INFO_LINES, '') }).toEqual({
      code: 75,
      out: '',
      err:
        `iostlens: Another loader is writing ${target.prefix} at ${target.url}.\n` +
        '  Stop it first; a store can have only one loader.\n',
    })
    await finish(first, target)
    await expectClean(target)
    await target.destroy()
  })

  test('of two loaders started at the same moment one wins, the other stops, and no blocks are mixed', async () => {
    node.setHeight(BEGIN)
    await using folder = await cliFolder()
    const target = openTestElastic()
    const both = [follow(folder, target, LONG_LEASE), follow(folder, target, LONG_LEASE)]
    const { lost, outcome } = await Promise.race(
      both.map(async (loader, lost) => ({ lost, outcome: await loader.ended })),
    )
    expect(outcome).toEqual({
      code: 75,
      out: '',
      err: expect.stringMatching(/^iostlens: Another loader (is writing|took|has just locked) /m),
    })
    await finish(both[1 - lost] as Running, target)
    await expectClean(target)
    await target.destroy()
  })
})
