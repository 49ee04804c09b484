import { afterAll, beforeAll, expect, test } from 'bun:test'
import { secondOpinion } from '../../support/oracle/second-opinion.ts'
import { type Testimony, type Witness, witness } from '../../support/oracle/witness.ts'
import { serviceOn } from '../../support/processes/service.ts'
import { seedOf } from '../../support/seeded.ts'
import { isGreen, masterName, urlOfAll } from '../../support/stores/elastic-cluster.ts'
import type { OwnServer } from '../../support/stores/elastic-process.ts'
import { openTestElastic, type TestElastic } from '../../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../../support/stores/loading.ts'
import { openTroubledLine, type Trouble, type TroubledLine } from '../../support/stores/troubled-line.ts'

type Three = readonly [OwnServer, OwnServer, OwnServer]

const HEIGHT = 60
const PAGES = 60
/** The tests' own time-outs never fire: the client gets around hung servers, or the test never ends. */
const NEVER_MS = 3_600_000

let node: Awaited<ReturnType<typeof replayed>>
let lines: readonly TroubledLine[]
let target: TestElastic

/** Waits for this many more right answers. */
async function answers(watching: Witness, count: number): Promise<void> {
  for (const enough = watching.good() + count; watching.good() < enough; ) await watching.sees(200)
}

const troubled = () => ({
  ...target,
  url: urlOfAll(lines),
  store: target.reopen({
    url: urlOfAll(lines),
    requestTimeoutMs: NEVER_MS,
    writeTimeoutMs: NEVER_MS,
    retryTimeoutMs: NEVER_MS,
  }),
})

/** Requests pages continuously before, during and after a disturbance. */
async function watchedThrough(begin: () => void, end: () => void, during = async () => {}): Promise<Testimony> {
  const { store } = troubled()
  const watching = await witness(serviceOn(store, { deadlineMs: NEVER_MS }), {
    seed: seedOf(41),
    askers: 4,
    also: [503],
  })
  try {
    await answers(watching, PAGES)
    begin()
    await Promise.all([answers(watching, PAGES), during()])
  } finally {
    end()
  }
  await answers(watching, PAGES)
  return watching.stop()
}

async function expectRight(seen: Testimony): Promise<void> {
  const { wrong, statuses, longestGapMs } = seen
  expect(wrong).toEqual([])
  expect(await secondOpinion(node.url, seen)).toEqual([])
  const { 200: good = 0, 503: refused = 0 } = statuses
  process.stderr.write(`${good} answers, ${refused} of 503, longest gap ${Math.round(longestGapMs)} ms\n`)
  expect(refused).toBeLessThan(PAGES / 10)
}

/** A cluster of three servers that does not drop a hung one. */
export function hungSuite(servers: () => Three): void {
  beforeAll(async () => {
    node = await replayed(HEIGHT)
    const urls = servers().map(({ url }) => url)
    lines = await Promise.all(urls.map(openTroubledLine))
    target = openTestElastic({ url: urlOfAll(servers()), replicas: 1 })
    await isGreen(urls[0])
    await loadFrom(node.url, target.store, { to: 30 })
  })
  afterAll(async () => {
    for (const line of lines ?? []) await line.close()
    await target?.destroy()
    await node?.stop()
  })

  const suffer = (trouble: Trouble) => () => lines[1]?.suffer(trouble)

  test('clients are cut off from the server: pages are answered and blocks loaded through the others', async () => {
    const seen = await watchedThrough(suffer('hold'), suffer('none'), async () => {
      const { store } = troubled()
      expect(await loadFrom(node.url, store)).toBe(HEIGHT)
    })
    await expectRight(seen)
  })

  test('the server is slow: pages are answered by the others', async () => {
    await expectRight(await watchedThrough(suffer({ delayMs: 3_000 }), suffer('none')))
  })

  const hangs = (which: (master: string) => OwnServer | undefined) => async () => {
    const hung = which(await masterName(servers()[0].url))
    await expectRight(
      await watchedThrough(
        () => hung?.pause(),
        () => hung?.resume(),
      ),
    )
  }

  test(
    'the server hangs: its copies are avoided, too',
    hangs(master => servers().find(({ name }) => name !== master)),
  )
  test(
    'the master hangs: pages do not need it',
    hangs(master => servers().find(({ name }) => name === master)),
  )
}
