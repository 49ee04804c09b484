import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { describeDropped } from '#cli/log.ts'
import { catalogue, loadCounts, type MetricCounts, nodeCallNote, storeCallNote } from '#cli/metrics/catalogue.ts'
import { exposeMetrics } from '#cli/metrics/readings.ts'
import { lineWriter } from '#cli/stderr.ts'
import { Failure } from '#failure/failure.ts'
import { createQueues } from '#gate/queues.ts'
import { load } from '#load/load.ts'
import { createCounters } from '#metrics/counters.ts'
import { createNode } from '#node/archive-node.ts'
import type { Store } from '#store/port.ts'
import { handClock } from '../support/clocks/hand-clock.ts'
import { readExposition, type Sample } from '../support/exposition.ts'
import { spokenNode } from '../support/nodes/spoken-node.ts'
import { serviceOn } from '../support/processes/service.ts'
import { ROOT } from '../support/root.ts'
import { fillFromRecording } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { testFolder } from '../support/test-folder.ts'

/** Time of the last block. The service begins 40 seconds later. */
const MADE = 1_795_249_532_500
const HEIGHT = 4_000
const CAPACITY = { maxInFlight: 1, maxExports: 1, maxFeeds: 1, maxFeedsPerKey: 1 }

/** A service with its metrics, in which a test can make the store, node or clock fail. */
function alertStand(inner: Store) {
  const counts: MetricCounts = createCounters(catalogue)
  const clock = handClock(MADE + 40_000)
  const queues = createQueues({ ...CAPACITY, deadlineMs: 10_000, clock })
  const trouble: { store?: Failure; readMs: number; silent: boolean; lib: number; used: number } = {
    ...{ readMs: 0, silent: false, lib: HEIGHT, used: 0.5 },
  }
  const ask = async <T>(work: () => Promise<T>): Promise<T> => {
    if (trouble.store !== undefined) throw trouble.store
    clock.leap(trouble.readMs)
    return work()
  }
  const note = storeCallNote(counts)
  const store: Store = {
    ...inner,
    disks: async () =>
      (await inner.disks()).map(disk => ({ ...disk, freeBytes: (1 - trouble.used) * disk.totalBytes })),
    published: () => ask(async () => ({ height: HEIGHT, hash: 'h', time: BigInt(MADE) * 1_000_000n, lib: HEIGHT })),
    read: async (work, options) => {
      const since = performance.now()
      const found = ask(() => inner.read(work, options))
      await found.then(() => note({ call: 'read', since })).catch(error => note({ call: 'read', since, error }))
      return found
    },
  }
  const said = spokenNode({})
  const lastInfo = () => {
    const info = said.lastInfo()
    return trouble.silent || info === undefined ? undefined : { ...info, libBlock: trouble.lib }
  }
  const node = { ...said, lastInfo }
  const service = serviceOn(store, { node, clock, counts, queues })
  const metrics = exposeMetrics(counts, { store, node, clock, queues, version: '0' })
  return {
    ...{ counts, clock, trouble, node, store, metrics },
    page: () => service.ask(`/api/?module=base&action=get-wealth-list&apikey=${service.key}`),
  }
}

/** A request to a node that does not answer. */
async function askAway({ counts }: Stand): Promise<void> {
  const away = createNode({ urls: ['http://127.0.0.1:1'], tries: 1, onCall: nodeCallNote(counts) })
  await away.chainInfo().catch(() => undefined)
  away.close()
}

/** Makes a load fail at its node two times. */
async function failLoads({ node, store, counts, clock }: Stand): Promise<void> {
  const stop = new AbortController()
  let failed = 0
  const chainInfo = () => Promise.reject(new Failure('unavailable', 'The node is away.'))
  const log = (): void => {
    failed += 1
    if (failed === 2) stop.abort()
  }
  const how = { once: false, retry: 'always', signal: stop.signal, onProgress: () => undefined, log } as const
  const impatient = { ...clock, sleep: async () => undefined }
  await load(
    { node: { ...node, chainInfo }, store },
    { ...loadCounts(counts, () => undefined), ...how, clock: impatient },
  )
}

const RULES = join(ROOT, 'packaging/prometheus/alerts.yml')
const DASHBOARD = join(ROOT, 'packaging/grafana/iostlens.json')

const folder = testFolder()
let promtool: string
const { store, destroy } = await temporarySqlite()

async function run(command: readonly string[], input = ''): Promise<{ code: number; text: string }> {
  const child = Bun.spawn([...command], { stdin: new Blob([input]), stdout: 'pipe', stderr: 'pipe' })
  const [code, out, err] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  return { code, text: `${out}${err}` }
}

beforeAll(async () => {
  const got = Bun.spawn([join(ROOT, 'scripts/promtool')], { stdout: 'pipe', stderr: 'inherit' })
  promtool = (await new Response(got.stdout).text()).trim()
  expect(await got.exited).toBe(0)
  await fillFromRecording(store, { to: 20 })
})
afterAll(destroy)

type Stand = ReturnType<typeof alertStand>
type Scrape = Awaited<ReturnType<typeof scrape>>

const scrape = async ({ metrics }: Stand) => readExposition(await metrics.text())

function formatSeries({ name, labels }: Sample): string {
  const all = [...labels, ['job', 'iostlens'], ['instance', 'test']]
  return `${name}{${all.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(',')}}`
}

const MINUTES = 40

/**
 * An hour of a service: the values of the first scrape, then trouble. In each minute a counter grows by its
 * difference between the scrapes. A gauge keeps its value of the second scrape.
 */
function toInput(before: Scrape, after: Scrape, up: number) {
  const old = new Map(before.samples.map(sample => [formatSeries(sample), sample.value]))
  const series = after.samples.map(sample => {
    const name = formatSeries(sample)
    const was = old.get(name)
    const type = after.types.get(sample.name) ?? after.types.get(sample.name.replace(/_(bucket|sum|count)$/, ''))
    const step = type === 'counter' || type === 'histogram' ? sample.value - (was ?? 0) : 0
    return { series: name, values: `${was ?? '_'}x${MINUTES} ${sample.value}+${step}x${MINUTES}` }
  })
  return [...series, { series: 'up{job="iostlens",instance="test"}', values: `1x${MINUTES} ${up}x${MINUTES}` }]
}

/** A test of Prometheus: the alerts that fire at the end of such an hour. */
function alertTest(name: string, input_series: ReturnType<typeof toInput>, firing: readonly string[]) {
  const expr = 'count by (alertname) (ALERTS{alertstate="firing"})'
  const exp_samples = firing.map(alert => ({ labels: `{alertname="${alert}"}`, value: 1 }))
  const promql_expr_test = [{ expr, eval_time: `${2 * MINUTES}m`, exp_samples }]
  return { name, interval: '1m', input_series, promql_expr_test }
}

/** Makes a page fail with a code, and ends the trouble. */
async function failPage({ trouble, page }: Stand, failure: Failure, status: number): Promise<void> {
  trouble.store = failure
  expect((await page()).status).toBe(status)
  delete trouble.store
}

type Trouble = { readonly make: (stand: Stand) => unknown; readonly also?: readonly string[] }

const TROUBLES: Readonly<Record<string, Trouble>> = {
  IostlensStoreUnreadable: {
    make: ({ trouble }) => Object.assign(trouble, { store: new Failure('unavailable', 'The store is away.') }),
  },
  IostlensStoreDamaged: {
    make: async stand => {
      const damaged = new Failure('damaged', 'Part of it is lost.')
      await failPage(stand, damaged, 503)
      stand.trouble.store = damaged
    },
    also: ['IostlensStoreUnreadable'],
  },
  IostlensDiskFilling: { make: ({ trouble }) => Object.assign(trouble, { used: 0.91 }) },
  IostlensNodeSilent: { make: ({ trouble }) => Object.assign(trouble, { silent: true }) },
  // The node stands still and reports that nothing is left to load.
  IostlensBlocksOld: { make: ({ clock }) => clock.leap(600_000) },
  IostlensFarBehind: { make: ({ trouble }) => Object.assign(trouble, { lib: trouble.lib + 1_001 }) },
  IostlensLoadFailing: { make: failLoads },
  IostlensDefect: { make: stand => failPage(stand, new Failure('defect', 'A fault.'), 500) },
  IostlensTimeouts: { make: stand => failPage(stand, new Failure('deadline', 'Too late.'), 504) },
  IostlensSlow: {
    make: async ({ trouble, page }) => {
      trouble.readMs = 2_000
      expect((await page()).status).toBe(200)
      trouble.readMs = 0
    },
  },
  IostlensBusy: {
    make: async ({ page, clock }) => {
      // One request runs at a time and few may wait. The others are refused at once.
      const asked = Array.from({ length: 100 }, page)
      await clock.settle()
      const statuses = await Promise.all(asked)
      expect(statuses.filter(({ status }) => status === 503).length).toBeGreaterThan(61)
    },
  },
  IostlensStoreFailing: {
    make: async stand => {
      for (let times = 0; times < 10; times++)
        await failPage(stand, new Failure('unavailable', 'The store is away.'), 503)
    },
  },
  IostlensNodeFailing: { make: askAway },
  IostlensEventLoopLate: { make: ({ counts }) => counts.eventLoop.observe(0.8) },
  IostlensLogDropped: {
    make: ({ counts }) => {
      const writer = lineWriter(() => undefined, {
        maxWaiting: 10,
        dropped: count => describeDropped(count, { format: 'plain' }),
      })
      for (let lines = 0; lines < 3; lines++) writer.write('0123456789\n')
      counts.droppedLines.set(writer.dropped())
    },
  },
}

test('alerts: the rules are well-formed, and each has a test that causes its problem', async () => {
  expect(await run([promtool, 'check', 'rules', RULES])).toMatchObject({ code: 0 })
  const names = [...(await Bun.file(RULES).text()).matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? '')
  expect(names.toSorted()).toEqual(['IostlensDown', ...Object.keys(TROUBLES)].toSorted())
})

async function healthy(): Promise<Stand> {
  const stand = alertStand(store)
  for (let pages = 0; pages < 3; pages++) expect((await stand.page()).status).toBe(200)
  stand.counts.eventLoop.observe(0.001)
  return stand
}

/** The metrics of a service before and after something happened. */
async function scrapeAround(happen: (stand: Stand) => unknown) {
  const stand = await healthy()
  const before = await scrape(stand)
  await happen(stand)
  // The published height is cached for a moment.
  stand.clock.leap(600)
  return [before, await scrape(stand)] as const
}

test('alerts: each fires on its problem alone, IostlensDown when nothing answers, and none on a healthy service', async () => {
  const usual = await scrapeAround(({ page }) => page())
  const tests = [
    alertTest('healthy', toInput(...usual, 1), []),
    alertTest('down', toInput(...usual, 0), ['IostlensDown']),
  ]
  for (const [name, { make, also = [] }] of Object.entries(TROUBLES))
    tests.push(alertTest(name, toInput(...(await scrapeAround(make)), 1), [name, ...also].toSorted()))
  const file = join(folder, 'rules-test.json')
  await Bun.write(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
  const { code, text } = await run([promtool, 'test', 'rules', file])
  expect([code, code === 0 ? '' : text]).toEqual([0, ''])
})

test('metrics: Prometheus parses them without complaints, and has every one that alerts and dashboard name', async () => {
  const stand = await healthy()
  expect(await run([promtool, 'check', 'metrics'], await stand.metrics.text())).toEqual({ code: 0, text: '' })
  const { types } = await scrape(stand)
  const text = `${await Bun.file(RULES).text()}\n${await Bun.file(DASHBOARD).text()}`
  const named = new Set([...text.matchAll(/\b(?:iostlens|process)_[a-z_]+\b/g)].map(([name]) => name))
  const known = (name: string): boolean =>
    types.has(name) || types.get(name.replace(/_(?:bucket|sum|count)$/, '')) === 'histogram'
  expect([...named].filter(name => !known(name))).toEqual([])
  expect(named.size).toBeGreaterThan(25)
})
