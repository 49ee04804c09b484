import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { catalogue } from '#cli/metrics/catalogue.ts'
import { processMetrics } from '#cli/metrics/process-metrics.ts'
import { readSettings } from '#cli/read-settings.ts'
import { startServing } from '#cli/serving.ts'
import type { SettingName } from '#cli/settings.ts'
import { createKey } from '#keys/key.ts'
import { exposition } from '#metrics/expose.ts'
import { createNode } from '#node/create-node.ts'
import { patientClock } from '#test/support/clocks/patient-clock.ts'
import { readExposition } from '#test/support/exposition.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { until } from '#test/support/wait.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { askAlone } from '../support/processes/ask-alone.ts'
import { fillFromRecording } from '../support/stores/loaded.ts'
import { type Begun, DOOM, type Doom } from '../support/threads/doomed-thread.ts'

const PROGRAM = new URL('../support/threads/doomed-thread.ts', import.meta.url)
/** With so many keys, each thread has some of their connections. */
const KEYS = 5
/** The maximum number of concurrent calls to a node per key. */
const OF_KEY = 8
/** The number of open live pages. */
const PAGES = 16

/** Collects the start messages of the threads, and can end a thread. */
const doom = () => {
  const channel = new BroadcastChannel(DOOM)
  const begun: number[] = []
  let wake = Promise.withResolvers<void>()
  channel.onmessage = ({ data }: { readonly data: unknown }) => {
    begun.push((data as Begun).begun)
    wake.resolve()
    wake = Promise.withResolvers()
  }
  return {
    until: async (isSo: (begun: readonly number[]) => boolean) => {
      await until(() => isSo(begun))
    },
    end: (order: Doom) => channel.postMessage(order),
    close: () => channel.close(),
  }
}

test.each(['error', 'rejection', 'exit'] as const)(
  'a thread that dies (%s) is replaced; its requests fail at once, all others are answered',
  async by => {
    const { store, path, destroy } = await temporarySqlite()
    await fillFromRecording(store, { to: 60 })
    const made = Array.from({ length: KEYS }, () =>
      createKey('k', { perSecond: 1_000, perDay: 1_000 }, { now: Date.now() }),
    )
    for (const { stored } of made) await store.keys.add(stored)
    const goOn = Promise.withResolvers<void>()
    let asked = 0
    let wake = Promise.withResolvers<void>()
    await using faulty = await startFaultyNode(async ({ path }) => {
      if (!path.startsWith('/getAccount/')) return undefined
      asked += 1
      wake.resolve()
      wake = Promise.withResolvers()
      await goOn.promise
      return new Response('{}')
    }, 60)
    const untilAsked = async (times: number) => {
      await until(() => asked >= times)
    }
    const set = (name: SettingName, text: string) => [name, { text, file: false }] as const
    const { values } = readSettings(
      new Map([
        set('data', dirname(path)),
        set('store', `sqlite:${path}`),
        set('listen', '127.0.0.1:0'),
        set('node', faulty.url),
        set('node-timeout', '5m'),
        set('deadline', '5m'),
        set('explorer', 'true'),
        set('max-feeds-per-key', String(PAGES)),
      ]),
      {},
    )
    const deaths: unknown[] = []
    const lines: string[] = []
    const threads = doom()
    const node = createNode({ urls: [faulty.url], clock: patientClock })
    await node.watch(() => store.identity())
    const metrics = processMetrics(2)
    const serving = await startServing({
      ...{ values, version: 'test', store, node, threads: 2, threadProgram: PROGRAM },
      log: (level, message, fields) => {
        if (message.includes('has died')) deaths.push([level, fields?.['thread'], fields?.['reason']])
      },
      screen: { line: line => lines.push(line) },
      metrics,
      droppedLines: () => 0,
    })
    let accounts = 0
    // Equal requests would share one call to the node.
    const ask = (key: string) =>
      askAlone(`${serving.url}/rpc/getAccount/a${accounts++}/true?apikey=${key}`).then(
        ({ status, text }) => (status === 200 ? status : text),
        () => 'closed' as const,
      )
    let ended = 0
    const follow = async () => {
      const { status, body } = await fetch(`${serving.url}/live`, { keepalive: false })
      const over = (): void => {
        ended += 1
      }
      if (status === 200) void body?.pipeTo(new WritableStream()).then(over, over)
      return status
    }
    try {
      await threads.until(begun => begun.length === 2)
      for (let page = 0; page < PAGES; page++) expect(await follow()).toBe(200)
      const running = made.flatMap(({ key }) => Array.from({ length: OF_KEY }, () => ask(key)))
      await untilAsked(KEYS * OF_KEY)
      let closed = 0
      const settled = running.map(answer =>
        answer.then(status => {
          if (status === 'closed') closed += 1
          return status
        }),
      )
      threads.end({ thread: 1, by })
      await threads.until(begun => begun.length === 3)
      expect(deaths).toEqual([['error', 2, expect.stringContaining(by === 'exit' ? 'code 3' : `doomed by ${by}`)]])
      // The thread's connections were closed when it died, so none of its requests waits for an answer.
      await Promise.any(settled)
      expect(closed).toBeGreaterThan(0)
      expect(closed).toBeLessThan(KEYS * OF_KEY)
      // The slots of the dead thread are free again, for requests of each key and for live pages.
      let again = 0
      while ((await follow()) === 200) again += 1
      await until(() => ended >= again)
      expect([again > 0, again < PAGES, ended - again]).toEqual([true, true, 0])
      const more = made.flatMap(({ key }) => Array.from({ length: OF_KEY }, () => ask(key)))
      await untilAsked(KEYS * OF_KEY + closed)
      goOn.resolve()
      const statuses = await Promise.all(settled)
      expect(statuses.filter(status => status === 200).length).toBe(KEYS * OF_KEY - closed)
      expect(new Set(await Promise.all(more))).toEqual(new Set([200]))
      // No request is lost from the counts, and none is counted twice.
      for (const { key } of made) {
        const { headers } = await askAlone(`${serving.url}/rpc/getNodeInfo?apikey=${key}`)
        expect(headers.get('ratelimit-remaining')).toBe(String(1_000 - 2 * OF_KEY - 1))
      }
      const { text } = exposition(catalogue, metrics.memory, [])
      const { sum } = readExposition(await text())
      expect(sum('iostlens_thread_deaths_total')).toBe(1)
      expect(sum('iostlens_http_requests_total', { route: 'rpc', status: '200' })).toBe(
        2 * KEYS * OF_KEY - closed + KEYS,
      )
    } finally {
      goOn.resolve()
      await serving.stop()
      node.close()
      threads.close()
      await destroy()
    }
    // Each answer has one whole log line.
    expect(lines.filter(line => !/^\d{4}-\d\d-\d\dT\S+ \w+ +[A-Z].*$/.test(line))).toEqual([])
  },
  600_000,
)
