import { expect, test } from 'bun:test'
import type { Store } from '#store/port.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { feedEvents } from '#test/support/processes/feed-client.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { seeded } from '#test/support/seeded.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { until } from '#test/support/wait.ts'

/** Feeds during a load: each row comes once and in order, over any interruption. */

const LISTS = [
  'module=account&action=get-account-tx&account=busyhub',
  'module=account&action=get-account-tx&account=busyhub&token=iost',
  'module=account&action=get-account-tx&account=admin&numbers=string',
  'module=account&action=get-account-tx&account=admin&func_name=auth.iost/signUp',
  'module=account&action=get-account-tx&account=tokenboss&failed=1',
  'module=account&action=get-vote-history&account=admin',
  'module=contract&action=get-contract-tx&contract=token.iost',
  'module=contract&action=get-contract-tx&contract=token.iost&action_name=transfer',
  'module=token&action=get-token-tx&token=iost&compat=iostabc',
  'module=base&action=get-block-list&numbers=string',
  'module=base&action=get-transaction-list',
]

/** Blocks stored at the begin, and the last one. Accounts and transactions of the recorded chain begin here. */
const FROM = 760
const TO = 790

type Row = { readonly seq: number; readonly text: string }

/** Every row of a list in order. */
async function wholeList({ ask, key }: Service, list: string): Promise<readonly Row[]> {
  const response = await ask(`/api/?apikey=${key}&${list}&format=ndjson&sort=asc`)
  const lines = (await response.text()).split('\n').slice(0, -2)
  return lines.map((text, at) => ({ seq: at + 1, text }))
}

/** The blocks in runs of varying length. */
async function drawRuns(random: () => number) {
  const blocks = await recordedBlocks()
  const runs = [blocks.slice(0, FROM + 1)]
  for (let at = FROM + 1; at <= TO; ) {
    const length = 1 + Math.floor(random() * 4)
    runs.push(blocks.slice(at, Math.min(at + length, TO + 1)))
    at += length
  }
  return runs
}

/** A client that reads a list from its begin, and reconnects after random events. */
function reader(service: Service, list: string, random: () => number) {
  const rows: Row[] = []
  const stopping = new AbortController()
  const connect = async (): Promise<void> => {
    const last = rows.at(-1)?.seq ?? 0
    const byHeader = random() < 0.5
    const start = byHeader ? '&start_seq=1' : `&start_seq=${last + 1}`
    const response = await service.ask(`/api/?apikey=${service.key}&${list}${start}&format=sse`, {
      headers: byHeader && last > 0 ? { 'last-event-id': String(last) } : {},
      signal: stopping.signal,
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    let left = 1 + Math.floor(random() * 400)
    for await (const { id, event, data } of feedEvents(response.body)) {
      expect(event).toBe('message')
      rows.push({ seq: Number.parseInt(id ?? '', 10), text: data })
      left -= 1
      if (left === 0) return
    }
  }
  const done = (async () => {
    // After the client leaves, the body ends with an error.
    while (!stopping.signal.aborted) await connect().catch(error => stopping.signal.aborted || Promise.reject(error))
  })()
  return { list, rows, done, stop: () => stopping.abort() }
}

/** Readers of all lists, each interrupted many times while blocks are loaded. */
async function followed(store: Store, seed: number): Promise<void> {
  const random = seeded(seed)
  const service = serviceOn(store)
  const readers: ReturnType<typeof reader>[] = []
  await commitRuns(store, await drawRuns(random), {
    lib: TO,
    onCommitted: async height => {
      if (readers.length === 0) for (const list of LISTS) readers.push(reader(service, list, random))
      await until(() => readers.every(({ list, rows }) => !list.includes('block-list') || rows.length > height))
    },
  })
  for (const one of readers) {
    const expected = await wholeList(service, one.list)
    expect(expected.length).toBeGreaterThan(0)
    await until(() => one.rows.length >= expected.length)
    one.stop()
    await one.done
    expect(one.rows).toEqual([...expected])
  }
}

test.each([1, 2])('feeds on SQLite: each row comes once and in order, over reconnections (seed %d)', async seed => {
  const { store, destroy } = await temporarySqlite()
  await followed(store, seed)
  await destroy()
})

test.skipIf(elasticsearchUrl() === undefined)(
  'feeds on Elasticsearch: each row comes once and in order, over reconnections',
  async () => {
    const { store, destroy } = openTestElastic()
    await followed(store, 3)
    await destroy()
  },
)
