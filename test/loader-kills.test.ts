import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { differences, dumpElastic } from './dump.ts'
import { elasticsearchUrl, openTestElastic } from './elasticsearch.ts'
import { loadFrom, replayed } from './loading.ts'
import { secondOpinion } from './second-opinion.ts'
import { seeded, seedOf } from './seeded.ts'
import { serviceOn } from './service.ts'
import { SOAK } from './soak.ts'
import { witness } from './witness.ts'

const LOADERS = SOAK ? 300 : 16
/** Blocks that each of them may load: more than most live to load. */
const STEP = SOAK ? 3 : 12
/** Before the first transactions of the recording. */
const START = 740
const HEIGHT = START + LOADERS * STEP
/** After so many killed ones a loader comes to its end, and the reader sees that height. */
const WHOLE_EVERY = 4
/** Of a batch: some blocks at most, so that a loader is killed before it has them all. */
const DOCUMENTS = 10
/** Documents of a partition: some are opened on the way. */
const PARTITION = 2_000

const PROGRAM = join(import.meta.dir, 'load-process.ts')

type Task = { readonly node: string; readonly url: string; readonly prefix: string; readonly to: number }

/** A loader process, killed a random moment after it has committed so many batches; whether that came before its end. */
const loadAWhile = async ({ node, url, prefix, to }: Task, random: () => number): Promise<boolean> => {
  const args = [node, 'elastic', url, prefix, ...[PARTITION, to, DOCUMENTS].map(String)]
  const loader = Bun.spawn([process.execPath, PROGRAM, ...args], { stdout: 'pipe', stderr: 'pipe' })
  // None: while it starts, takes over or clears up after the one before.
  const batches = Math.floor(random() * 4)
  const kill = () => setTimeout(() => loader.kill('SIGKILL'), random() * (batches === 0 ? 600 : 80))
  let timer = batches === 0 ? kill() : undefined
  let seen = 0
  for await (const chunk of loader.stdout) {
    seen += chunk.filter(byte => byte === 10).length
    if (seen >= batches) timer ??= kill()
  }
  const code = await loader.exited
  clearTimeout(timer)
  if (code !== 0 && loader.signalCode !== 'SIGKILL') throw new Error(await new Response(loader.stderr).text())
  return code !== 0
}

describe.skipIf(elasticsearchUrl() === undefined)('loading into Elasticsearch', () => {
  test('readers see nothing but whole heights, ever higher, while loaders are killed again and again', async () => {
    const seed = seedOf(23)
    const random = seeded(seed)
    const node = await replayed(HEIGHT)
    const [target, clean] = [
      openTestElastic({ partitionDocuments: PARTITION }),
      openTestElastic({ partitionDocuments: PARTITION }),
    ]
    try {
      await target.store.create()
      await loadFrom(node.url, target.store, { to: START })
      const watching = await witness(serviceOn(target.store), { seed })
      let kills = 0
      for (let loader = 1; loader <= LOADERS; loader++) {
        const to = START + loader * STEP
        if (await loadAWhile({ node: node.url, ...target, to }, random)) kills++
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
      await loadFrom(node.url, clean.store)
      const [dump, expected] = await Promise.all(
        [target, clean].map(({ url, prefix }) => dumpElastic(url, prefix)),
      )
      expect([seed, differences(dump ?? new Map(), expected ?? new Map())]).toEqual([seed, []])
      expect(kills).toBeGreaterThan(LOADERS / 3)
      expect(seen.answers.size).toBeGreaterThanOrEqual(LOADERS / WHOLE_EVERY)
      process.stderr.write(
        `${kills} loaders killed, ${seen.statuses[200]} answers at ${seen.answers.size} heights\n`,
      )
    } finally {
      await node.stop()
      await Promise.all([target.destroy(), clean.destroy()])
    }
  })
})
