import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { LoadProgress } from '#load/session.ts'
import { secondOpinion } from '../../support/oracle/second-opinion.ts'
import { type Testimony, witness } from '../../support/oracle/witness.ts'
import { serviceOn } from '../../support/processes/service.ts'
import { seeded, seedOf } from '../../support/seeded.ts'
import { type Dump, differences, dumpElastic } from '../../support/stores/dump.ts'
import { isGreen, urlOfAll } from '../../support/stores/elastic-cluster.ts'
import type { OwnServer } from '../../support/stores/elastic-process.ts'
import { openTestElastic, type TestElastic } from '../../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../../support/stores/loading.ts'

const HEIGHT = 200
const DOCUMENTS = 40

let expected: Dump
let node: Awaited<ReturnType<typeof replayed>>

/** Prepares the chain and the documents of an undisturbed load. */
function prepared(): void {
  beforeAll(async () => {
    node = await replayed(HEIGHT)
    const clean = openTestElastic()
    await loadFrom(node.url, clean.store)
    expected = await dumpElastic(clean.url, clean.prefix)
    await clean.destroy()
  })
  afterAll(() => node?.stop())
}

/** A loader and a reader that work on one store until the chain is loaded. */
async function underLoad(target: TestElastic, seed: number) {
  await loadFrom(node.url, target.store, { to: 0 })
  const watching = await witness(serviceOn(target.reopen()), { seed, also: [503] })
  let waiting: { readonly height: number; readonly done: () => void }[] = []
  const onProgress = ({ height }: LoadProgress): void => {
    for (const one of waiting) if (height >= one.height) one.done()
    waiting = waiting.filter(one => height < one.height)
  }
  const pauses: string[] = []
  const chunk = { documents: Math.ceil(DOCUMENTS / 4), bytes: Number.MAX_SAFE_INTEGER }
  const loading = loadFrom(node.url, target.reopen({ chunk }), {
    onProgress,
    batch: { documents: DOCUMENTS, bytes: Number.MAX_SAFE_INTEGER, chunk },
    log: (_level, _message, fields) => pauses.push(String(fields?.['reason'])),
  })
  // A failure is reported by `end`, which awaits the same promise.
  loading.catch(() => undefined)
  const ended = loading.then(() => {
    for (const { done } of waiting) done()
  })
  return {
    watching,
    pauses,
    /** Resolves when this many more blocks are committed, or all. */
    loads: (blocks: number): Promise<unknown> => {
      const height = Math.min(HEIGHT, watching.height() + blocks)
      return Promise.race([new Promise<void>(done => waiting.push({ height, done })), ended])
    },
    end: async (): Promise<Testimony> => {
      expect(await loading).toBe(HEIGHT)
      await watching.sees(200)
      expect(watching.height()).toBe(HEIGHT)
      return watching.stop()
    },
  }
}

/** Every answer was right, and the stored documents are those of an undisturbed load. */
async function expectNothingLost(target: TestElastic, seed: number, seen: Testimony): Promise<void> {
  expect([seed, seen.wrong]).toEqual([seed, []])
  expect([seed, await secondOpinion(node.url, seen)]).toEqual([seed, []])
  const dump = await dumpElastic(target.url.replace(/,.*/, ''), target.prefix)
  expect([seed, differences(dump, expected)]).toEqual([seed, []])
}

/** A single server, killed `kills` times. It runs before and after. */
export function killedSuite(at: () => OwnServer, kills: number): void {
  prepared()

  test('one server: the service answers 503 while it is down, then loader and service continue by themselves without loss', async () => {
    const seed = seedOf(31)
    const random = seeded(seed)
    const server = at()
    const target = openTestElastic({ url: server.url })
    const { watching, loads, end } = await underLoad(target, seed)
    for (let kill = 0; kill < kills; kill++) {
      await loads(Math.floor(random() * 30))
      await Bun.sleep(random() * 100)
      server.kill()
      await watching.sees(503)
      await server.start()
      await watching.sees(200)
    }
    const seen = await end()
    await expectNothingLost(target, seed, seen)
    expect(Object.keys(seen.statuses)).toEqual(['200', '503'])
    await target.destroy()
  })
}

/**
 * A cluster of three running servers, of which `kills` are killed one after the other: with three, every role is
 * lost once. Two servers run in the end, and the first must be one of them.
 */
export function lostNodesSuite(all: () => readonly OwnServer[], kills: number): void {
  prepared()

  test('three servers with a copy of everything: killing any of them loses neither rows nor the service', async () => {
    const seed = seedOf(37)
    const random = seeded(seed)
    const nodes = all()
    const target = openTestElastic({ url: urlOfAll(nodes), replicas: 1 })
    await isGreen(nodes[0]?.url)
    const { watching, loads, end } = await underLoad(target, seed)
    for (let kill = 1; kill <= kills; kill++) {
      const one = nodes[kill % nodes.length]
      // A copy counts only when it is complete.
      await isGreen(nodes[(kill + 1) % nodes.length]?.url)
      await loads(Math.floor(random() * 10))
      one?.kill()
      await loads(10)
      await watching.sees(200)
      // The last server to be killed stays down: the load ends with two.
      if (kill < kills) await one?.start()
    }
    const seen = await end()
    await expectNothingLost(target, seed, seen)
    const { 200: good = 0, 503: away = 0 } = seen.statuses
    process.stderr.write(`${good} answers, ${away} of 503, longest gap ${Math.round(seen.longestGapMs)} ms\n`)
    await target.destroy()
  })
}
