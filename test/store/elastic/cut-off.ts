import { afterAll, beforeAll, expect, test } from 'bun:test'
import { toExitCode } from '#cli/command.ts'
import { accounts } from '#indices/account.ts'
import { blocks } from '#indices/block.ts'
import { lists } from '#indices/list.ts'
import { blockId } from '#indices/position.ts'
import type { StateChange } from '#indices/registry.ts'
import { wealth } from '#indices/wealth.ts'
import type { View } from '#store/port.ts'
import { batchOf, blockDoc, identity, listAt, publishedAt, tellingBatch, totalAt } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { type Asked, openProxy, pass } from '#test/support/nodes/faulty-proxy.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { healthy, isGreen, type ThreeServers } from '#test/support/stores/elastic-cluster.ts'
import type { OwnServer } from '#test/support/stores/elastic-process.ts'
import { openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'

/** The height that both servers have, and the height that only the remaining server has. */
const [BEFORE, AFTER] = [5, 9]

let main: OwnServer
let cutOff: OwnServer
let target: TestElastic
/** A proxy that sends each request to one of the two servers, as `isStale` decides. */
let proxy: Awaited<ReturnType<typeof openProxy>>
let isStale: (asked: Asked) => boolean = () => false
let to = ''

const accountBatch = (height: number, names: readonly string[]) =>
  batchOf(height, height, {
    ...tellingBatch(height, height),
    changes: [
      ...tellingBatch(height, height).changes,
      ...names.map(name => ({ index: accounts, doc: accountDoc(name) }) as StateChange),
    ],
  })

const accountDoc = (name: string) => ({
  id: name,
  name,
  creator: '',
  height: 0,
  time: 0n,
  tx_hash: '',
  permissions: [],
  groups: [],
})

type Case = readonly [what: string, read: (view: View) => Promise<unknown>, right: unknown]
const newest = blockDoc(AFTER)
const cases: readonly Case[] = [
  ['a document of state', async view => (await view.get(wealth, 'a'))?.total, totalAt(AFTER)],
  ['a list', async view => (await view.get(lists, listAt(0).id))?.count, AFTER + 1],
  ['a document of history', async view => (await view.get(blocks, blockId(AFTER)))?.hash, newest.hash],
  ['a search by hash', async view => (await view.find(blocks, 'hash8', newest.hash8)).length, 1],
  [
    'a ranking',
    async view => (await view.page(wealth, 'richest', { offset: 0, limit: 1 })).map(({ total }) => total),
    [totalAt(AFTER)],
  ],
  ['rows of a list', async view => (await view.records(listAt(AFTER), 1, AFTER + 1)).length, AFTER + 1],
  [
    'new rows of a list',
    async view => (await view.newRecords(new Map([[1, BEFORE + 1]]), BEFORE)).length,
    AFTER - BEFORE,
  ],
  ['moments', async view => (await view.moments(listAt(AFTER), [AFTER + 1])).map(({ height }) => height), [AFTER]],
  ['names', async view => (await view.startingWith(accounts, 'u', 10)).map(({ id }) => id), ['u1', 'u2']],
]

async function readThrough<T>(read: (view: View) => Promise<T>): Promise<T> {
  const store = target.reopen({ url: proxy.url })
  try {
    return await store.read(read)
  } finally {
    await store.close()
  }
}

/** An audit's view of the last batch. */
async function audited() {
  const store = target.reopen({ url: proxy.url, requestTimeoutMs: 10_000 })
  try {
    const audit = await store.audit()
    const [richest] = await audit.getMany(wealth, ['a'])
    const [block, account] = [await audit.existing(blocks, [blockId(AFTER)]), await audit.existing(accounts, ['u2'])]
    await audit.close()
    return { richest: richest?.total, hasBlock: block.size === 1, hasAccount: account.size === 1 }
  } finally {
    await store.close()
  }
}

const isCount = ({ body }: Asked): boolean => body.includes('"track_total_hits":true')

/** Requests of these calls go to the server that is cut off, all others to the remaining one. */
function staleAt(
  calls: readonly string[],
  atMost = Number.POSITIVE_INFINITY,
  of = (asked: Asked) => !isCount(asked),
): void {
  let left = atMost
  isStale = asked => {
    const call = /_[a-z_]+(?=\?|$)/.exec(asked.path)?.[0] ?? ''
    return calls.includes(call) && of(asked) && left-- > 0
  }
}
const READS = ['_mget', '_search', '_msearch', '_terms_enum']

/**
 * The first server remains, and the third is cut off from it. The second does not run any more. Afterwards the first
 * runs alone.
 */
export function cutOffSuite(cluster: () => ThreeServers): void {
  beforeAll(async () => {
    const { servers, lines } = cluster()
    main = servers[0]
    cutOff = servers[2]
    // The first server alone decides about the cluster.
    const { name } = servers[1]
    await ask('POST', `${main.url}/_cluster/voting_config_exclusions?node_names=${name},${cutOff.name}`)
    target = openTestElastic({ url: main.url, replicas: 1 })
    await target.store.create()
    const writer = await target.store.takeOver(identity)
    await commitBatch(writer, tellingBatch(0, BEFORE - 1))
    await commitBatch(writer, accountBatch(BEFORE, ['u1']))
    await isGreen(main.url)
    for (const line of lines) line.suffer('cut')
    // The master removes the other server's copies from the set of active copies.
    await healthy(main.url, 'wait_for_nodes=1')
    await commitBatch(writer, tellingBatch(BEFORE + 1, AFTER - 1))
    await commitBatch(writer, accountBatch(AFTER, ['u2']))
    await writer.release()
    proxy = await openProxy(
      () => to,
      asked => {
        to = isStale(asked) ? cutOff.url : main.url
        return pass
      },
    )
  })
  afterAll(async () => {
    await proxy?.close()
    await target?.destroy()
    cutOff?.kill()
  })

  test('the copies of the cut-off server are outdated, as these tests need', async () => {
    const { _source } = await ask<{ _source: { value: string } }>(
      'GET',
      `${cutOff.url}/${target.prefix}-state-0/_doc/${encodeURIComponent('wealth/a')}?realtime=false`,
    )
    expect(_source.value).toBe(String(totalAt(BEFORE)))
  })

  for (const [what, read, right] of cases) {
    test(`${what}: the old value is never returned`, async () => {
      staleAt(READS)
      const answer = await readThrough(read).catch((error: unknown) => error)
      if (answer instanceof Error)
        expect([toExitCode(answer), (await failureOf(Promise.reject(answer))).kind]).toEqual([75, 'unavailable'])
      else expect(answer).toEqual(right)
    })
    test(`${what}: another copy is read`, async () => {
      staleAt(READS, 2)
      expect(await readThrough(read)).toEqual(right)
    })
  }

  test('an export is read from a current copy', async () => {
    staleAt(['_pit', '_search'])
    const store = target.reopen({ url: proxy.url })
    const held = await store.hold({ state: [wealth] }).catch((error: unknown) => error)
    expect([toExitCode(held), (held as Error).message]).toEqual([75, expect.stringContaining('out of date')])
    // The point in time of an earlier test may still be closing.
    staleAt(['_pit', '_search'], 2, ({ method }) => method === 'POST')
    const { view, close } = await store.hold({ state: [wealth] })
    expect((await view.get(wealth, 'a'))?.total).toBe(totalAt(AFTER))
    close()
    await store.close()
  })

  test('an audit reports no damage for documents that only the cut-off server lacks', async () => {
    const posted = ({ method }: Asked): boolean => method === 'POST'
    staleAt(['_pit', '_search'], Number.POSITIVE_INFINITY, posted)
    const failure = await failureOf(audited())
    expect([toExitCode(failure), failure.message]).toEqual([75, expect.stringContaining('out of date')])
    staleAt(['_pit', '_search'], 2, posted)
    expect(await audited()).toEqual({ richest: totalAt(AFTER), hasBlock: true, hasAccount: true })
  })

  test('a loader reads the current state', async () => {
    isStale = () => false
    const store = target.reopen({ url: proxy.url })
    const writer = await store.takeOver(identity)
    const right = tellingBatch(AFTER, AFTER).changes.flatMap(({ index, doc }) => (index === wealth ? [doc] : []))
    staleAt(['_pit', '_search'], 2, ({ method }) => method === 'POST')
    const state = await writer.openState()
    expect<unknown>(right.map(({ id }) => state.get(wealth, id))).toEqual(right)
    expect(state.members({ index: wealth, order: 'richest' })).toEqual(right)
    await writer.release()
    await store.close()
  })

  test('a count that is too low on the cut-off server is not damage', async () => {
    staleAt(['_msearch'], 1, isCount)
    const store = target.reopen({ url: proxy.url })
    const writer = await store.takeOver(identity)
    await writer.release()
    expect(await store.published()).toEqual(publishedAt(AFTER))
    await store.close()
  })

  test('while no copy is known to be current, a load fails temporarily', async () => {
    staleAt(['_msearch', '_search_shards'], Number.POSITIVE_INFINITY, () => true)
    const store = target.reopen({ url: proxy.url, requestTimeoutMs: 10_000 })
    const failure = await failureOf(store.takeOver(identity))
    expect([toExitCode(failure), failure.kind, failure.retryable]).toEqual([75, 'unavailable', true])
    await store.close()
  })

  test('documents of the last batch that are really missing are damage to an audit', async () => {
    isStale = () => false
    await ask('DELETE', `${main.url}/${target.prefix}-state-0/_doc/${encodeURIComponent('accounts/u2')}?refresh=true`)
    expect(await audited()).toEqual({ richest: totalAt(AFTER), hasBlock: true, hasAccount: false })
  })
}
