import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '#test/support/wait.ts'
import { patientClock } from '../support/clocks/patient-clock.ts'
import { fill, forkedChain } from '../support/nodes/forked.ts'
import { replayedNode } from '../support/nodes/replayed-node.ts'
import { feedEvents } from '../support/processes/feed-client.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { type Damageable, damageableElastic, damageableSqlite } from '../support/stores/damage.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { loadFrom } from '../support/stores/loading.ts'
import { repairedEnd } from '../support/stores/repaired-end.ts'

/** A repair takes blocks back while feeds are open: no reader keeps a row that is no longer on the chain. */

setDefaultTimeout(600_000)

/** The end of this part of the recorded chain has transfers. */
const HEIGHT = 700
const NEXT = 720

const LISTS = [
  'module=account&action=get-account-tx&account=admin',
  'module=contract&action=get-contract-tx&contract=token.iost',
  'module=token&action=get-token-tx&token=contribute',
  'module=base&action=get-block-list',
  'module=base&action=get-transaction-list',
]

const replay = replayedNode(NEXT)

/** The rows of a list from the first one, without the fields that depend on the length of the list. */
async function wholeList({ ask, key }: Service, list: string): Promise<readonly string[]> {
  const response = await ask(`/api/?apikey=${key}&${list}&format=ndjson&sort=asc`)
  expect(response.status).toBe(200)
  return (await response.text()).split('\n').slice(0, -2)
}

/** A reader that follows the reference: after `reset` it discards the later rows, which are sent again. */
function follower(service: Service, list: string) {
  let rows: string[] = []
  const resets: number[] = []
  const leaving = new AbortController()
  const connect = async (): Promise<void> => {
    const query = `apikey=${service.key}&${list}&start_seq=${rows.length + 1}&format=sse`
    const response = await service.ask(`/api/?${query}`, { signal: leaving.signal })
    if (response.status === 503) return await Bun.sleep(20)
    expect([list, response.status]).toEqual([list, 200])
    for await (const { id, event, data } of feedEvents(response.body))
      if (event === 'message') {
        expect([list, Number.parseInt(id ?? '', 10)]).toEqual([list, rows.length + 1])
        rows.push(data)
      } else if (event === 'reset') {
        const { seq } = JSON.parse(data)
        expect([list, Number.parseInt(id ?? '', 10), seq < rows.length]).toEqual([list, seq, true])
        resets.push(seq)
        rows = rows.slice(0, seq)
      } else {
        // The store was closed for longer than a feed may be silent, so the rows sent before may have changed.
        expect([list, event]).toEqual([list, 'end'])
        rows = []
      }
  }
  const run = async (): Promise<void> => {
    while (!leaving.signal.aborted) await connect().catch(error => leaving.signal.aborted || Promise.reject(error))
  }
  const done = run()
  return { list, rows: (): readonly string[] => rows, resets, done, stop: () => leaving.abort() }
}

/** By this clock no feed is silent for long, so that those of a readable store end only with the test. */
const UNHURRIED = { ...patientClock, elapsed: () => 0 }

/** Numbers of blocks, and how they are taken back: within the blocks whose batches are kept separately, and beyond. */
const FEW = [3, 'back'] as const
const MANY = [20, 'closed'] as const

function suite(open: () => Promise<Damageable>, ...cases: readonly (typeof FEW | typeof MANY)[]): void {
  test.each(cases)(
    'feeds: a repair takes %d blocks back (%s): readers of their rows get a reset and the rows of the chain',
    async (orphans, way) => {
      const place = await open()
      try {
        await fill(place.store, await forkedChain(HEIGHT, orphans), HEIGHT + 5)
        const service = serviceOn(place.reopen(), way === 'back' ? { clock: UNHURRIED } : {})
        const before: (readonly string[])[] = []
        for (const list of LISTS) before.push(await wholeList(service, list))
        const readers = LISTS.map(list => follower(service, list))
        const ends = Promise.race(readers.map(({ done }) => done))
        await Promise.race([until(() => readers.every(({ rows }, at) => rows().length === before[at]?.length)), ends])
        const { aligned } = await repairedEnd(place.store, replay.node)
        expect(aligned.way).toBe(way)
        expect(await loadFrom(replay.url, place.store)).toBe(NEXT)
        for (const [at, reader] of readers.entries()) {
          const expected = await wholeList(service, reader.list)
          await Promise.race([until(() => reader.rows().length >= expected.length), ends])
          expect([reader.list, reader.rows()]).toEqual([reader.list, [...expected]])
          const common = before[at]?.findIndex((row, index) => row !== expected[index]) ?? -1
          // Readers of a row that was taken back got a `reset`, if the store was readable throughout.
          if (way === 'back' && common >= 0)
            expect([reader.list, reader.resets.some(seq => seq <= common)]).toEqual([reader.list, true])
        }
        for (const { stop, done } of readers) {
          stop()
          await done
        }
      } finally {
        await place.destroy()
      }
    },
  )
}

describe('on SQLite', () => suite(damageableSqlite, FEW, MANY))
if (elasticsearchUrl() !== undefined) describe('on Elasticsearch', () => suite(damageableElastic, FEW))
