import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import type { StateChange } from '#indices/registry.ts'
import { wealth } from '#indices/wealth.ts'
import type { WriteEvent } from '#store/elastic/client/sender.ts'
import type { View, Writer } from '#store/port.ts'
import {
  balanceDoc,
  batchOf,
  blockDoc,
  identity,
  listAt,
  publishedAt,
  tellingBatch,
  totalAt,
} from '#test/store/suite/fixture.ts'
import { fillStore } from '#test/store/suite/harness.ts'
import { type Answered, type Asked, type Fate, pass } from '#test/support/nodes/faulty-proxy.ts'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import {
  type BehindProxy,
  elasticsearchUrl,
  openBehindProxy,
  type TestElastic,
} from '#test/support/stores/elasticsearch.ts'
import { openOtherState } from '#test/support/stores/test-state.ts'
import { until } from '#test/support/wait.ts'

/** Retries pause for one millisecond only. */
const clock = { sleep: () => Bun.sleep(1), random: () => 0 }

let place: BehindProxy
let events: WriteEvent[]

/**
 * Runs a case with a writer behind the proxy. All cases share a set of indices, and `at`, the first height of a case,
 * follows the last one of the previous case.
 */
async function withFaults(body: (setting: BehindProxy & { writer: Writer; at: number }) => Promise<void>) {
  place.faults.fateOf = () => pass
  events.length = 0
  const writer = await place.through.takeOver(identity)
  try {
    await body({ ...place, writer, at: (writer.checkpoint?.height ?? 0) + 1 })
  } finally {
    place.faults.fateOf = () => pass
    await writer.release()
  }
}

const isCheckpoint = ({ method, path }: Asked): boolean => method === 'PUT' && path.includes('/_doc/checkpoint')
const isAt = (part: string) => (asked: Asked) => asked.path.includes(part)
const isBulk = isAt('/_bulk')

function busy(status: number): Fate {
  return { type: 'answer', with: { status, body: '{"error":{"type":"busy","reason":"too much to do"}}' } }
}
function changeBody(to: (body: string) => string): Fate {
  return { type: 'change', to: ({ status, body }) => ({ status, body: to(body) }) }
}

/** Applies `fate` to the first `count` requests that `which` selects. */
function firstOf(which: (asked: Asked) => boolean, count: number, fate: Fate) {
  let left = count
  return (asked: Asked): Fate => (which(asked) && left-- > 0 ? fate : pass)
}

/** Expects what a loader of telling batches has stored so far. */
async function expectStored({ store }: TestElastic, height: number): Promise<void> {
  expect(await store.published()).toEqual(publishedAt(height))
  const owners = await store.read(view => view.page(wealth, 'richest', { offset: 0, limit: 10 }))
  expect(owners.map(({ total }) => total)).toEqual([totalAt(height), totalAt(height)])
}

/** A gate that holds whoever comes to it, and tells that somebody came. */
function createGate() {
  const [opened, came] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    hold: (): Fate => {
      came.resolve()
      return { type: 'hold', until: opened.promise }
    },
    came: came.promise,
    open: opened.resolve,
  }
}
const isPublication = (asked: Asked): boolean => isBulk(asked) && asked.body.includes('"published"')

/** Another loader, on another machine. */
const takeOverElsewhere = (target: TestElastic, options: Parameters<TestElastic['reopen']>[0] = {}) =>
  target.reopen({ openStateFile: openOtherState, ...options }).takeOver(identity)

/** Answers 429 for the first and every third item of a bulk, although the server has handled them. */
const every3rdTooMany = changeBody(body => {
  const { items } = JSON.parse(body) as { items: Record<string, object>[] }
  const error = { type: 'es_rejected_execution_exception', reason: 'queue full' }
  const changed = items.map((item, at) => {
    const [action = ''] = Object.keys(item)
    return at % 3 === 0 ? { [action]: { status: 429, error } } : item
  })
  return JSON.stringify({ items: changed })
})

const isMget = isAt('/_mget')

/** A copy does not have the documents yet. */
const nothingYet = changeBody(body => {
  const { docs } = JSON.parse(body) as { docs: { _index: string; _id: string }[] }
  return JSON.stringify({ docs: docs.map(({ _index, _id }) => ({ _index, _id, found: false })) })
})

/** Number of writes of a block's document, whatever their answers. */
const countWrites = async ({ ask }: TestElastic, height: number): Promise<number> =>
  (await ask<{ _version: number }>('GET', `blocks-000000/_doc/${blockId(height)}`))._version

/** The answers to the rows and to their second writing are lost. */
function loseTwice(): (asked: Asked) => Fate {
  const rows = firstOf(isBulk, 1, { type: 'cut-after' })
  const again = firstOf(({ body }) => body.includes('if_seq_no'), 1, { type: 'cut-after' })
  return asked => (asked.body.includes('if_seq_no') ? again(asked) : rows(asked))
}

/** The answer to the rows is lost, while a copy has none of them yet. */
function loseWhileLagging(): (asked: Asked) => Fate {
  const rows = firstOf(isBulk, 1, { type: 'cut-after' })
  const lagging = firstOf(isMget, 1, nothingYet)
  let cut = false
  return asked => {
    // The store also sends _mget before the commit.
    if (isMget(asked)) return cut ? lagging(asked) : pass
    const fate = rows(asked)
    cut ||= fate.type === 'cut-after'
    return fate
  }
}

const oneCopyMissed = changeBody(() => '{"_shards":{"total":2,"successful":1,"failed":1}}')

/** [fault, fates, retries, number of writes of the batch's rows in the end: a second one if the first may have been lost] */
const faultCases: readonly (readonly [string, (asked: Asked) => Fate, retries: number, writes?: number])[] = [
  ['nothing is lost', () => pass, 0, 1],
  ['the rows never arrive', firstOf(isBulk, 1, { type: 'cut-before' }), 1, 1],
  ['the answers to the rows and to their second writing are lost', loseTwice(), 3, 3],
  ['the answer to the rows is lost while a copy has none of them yet', loseWhileLagging(), 2, 2],
  ['the answer to the checkpoint is lost twice', firstOf(isCheckpoint, 2, { type: 'cut-after' }), 2],
  ['the checkpoint never arrives', firstOf(isCheckpoint, 2, { type: 'cut-before' }), 2],
  ['the server is busy at the checkpoint', firstOf(isCheckpoint, 1, busy(503)), 1],
  ['answers to all writes are lost', firstOf(isBulk, 3, { type: 'cut-after' }), 3],
  ['whole writes are refused', firstOf(isBulk, 2, busy(429)), 2],
  ['some items are refused', firstOf(isBulk, 2, every3rdTooMany), 2],
  ['writes make nothing searchable', unrefreshed(pass, 0), 0],
  ['a refresh does not reach every copy', unrefreshed(oneCopyMissed, 2), 2],
  ['refreshes fail', unrefreshed(busy(503), 2), 2],
]

/** No write becomes searchable at once, and `fate` applies to the first `count` refreshes. */
function unrefreshed(fate: Fate, count: number): (asked: Asked) => Fate {
  const refreshes = firstOf(isAt('/_refresh'), count, fate)
  const notSearchable = changeBody(body => body.replaceAll('"forced_refresh":true', '"forced_refresh":false'))
  return asked => (isBulk(asked) ? notSearchable : refreshes(asked))
}

const countBlocks = async ({ ask }: TestElastic): Promise<number> =>
  (await ask<{ count: number }>('GET', 'blocks/_count')).count

/** Every kind of request. */
const reads: readonly (readonly [string, path: string, (view: View) => Promise<unknown>])[] = [
  ['a document', '_mget', view => view.get(wealth, 'a')],
  ['a ranking', '_msearch', view => view.page(wealth, 'richest', { offset: 0, limit: 10 })],
  ['rows of a list', '_search', view => view.records(listAt(0), 1, 1)],
]

const shardGone = { type: 'no_shard_available_action_exception', reason: 'No shard available for [get]' }

/** The server answers, but a shard failed. */
function partly({ status, body }: Answered): Answered {
  const { docs: [first, ...rest] = [], responses } = JSON.parse(body) as { docs?: object[]; responses?: object[] }
  const failed = { status: 503, error: { type: 'search_phase_execution_exception', reason: 'all shards failed' } }
  if (first !== undefined)
    return { status, body: JSON.stringify({ docs: [...rest, { ...first, found: undefined, error: shardGone }] }) }
  if (responses !== undefined) return { status, body: JSON.stringify({ responses: [responses[0], failed] }) }
  return { status: 503, body: JSON.stringify({ error: shardGone, status: 503 }) }
}

const readFaults: readonly (readonly [string, Fate])[] = [
  ['is cut off before it arrives', { type: 'cut-before' }],
  ['is cut off before its answer', { type: 'cut-after' }],
  ['meets a full queue', busy(429)],
  ['meets a node that leaves', busy(503)],
  ['is answered by some shards only', { type: 'change', to: partly }],
  ['is answered with half of the text', changeBody(body => body.slice(0, body.length / 2))],
  ['is answered with an empty object', changeBody(() => '{}')],
  ['is answered with null', changeBody(() => 'null')],
  ['is answered with an object for every member', changeBody(body => body.replaceAll(/\[.*\]/gs, '{}'))],
]

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  beforeAll(async () => {
    events = []
    const onEvent = (event: WriteEvent) => void events.push(event)
    // The lease is longer than the tests, so that no renewal is counted.
    place = await openBehindProxy({ leaseMs: 600_000, clock, onEvent })
    await fillStore(place.target.store, tellingBatch(0, 0))
  })
  afterAll(() => place?.[Symbol.asyncDispose]())

  for (const [name, fateOf, retries, writes] of faultCases)
    test(`commit: the batch is stored exactly once when ${name}`, () =>
      withFaults(async ({ target, faults, writer, at }) => {
        faults.fateOf = fateOf
        await commitBatch(writer, tellingBatch(at, at + 4))
        const written = [await countWrites(target, at), await countWrites(target, at + 4)]
        if (writes !== undefined) expect(written).toEqual([writes, writes])
        await commitBatch(writer, tellingBatch(at + 5, at + 5))
        await expectStored(target, at + 5)
        expect(await countBlocks(target)).toBe(at + 6)
        expect(events.map(({ type }) => type)).toEqual(new Array(retries).fill('retry'))
      }))

  const fullDisk = /The fullest disk is that of server \S+ \(\/.*\): [\d.]+ of [\d.]+ GB are free\.$/
  for (const [what, index] of [
    ['rows cannot be written', 'records-000000'],
    ['not even the checkpoint can be written', '*'],
  ] as const)
    test(`commit: the commit waits while ${what} on a full disk, and continues by itself`, () =>
      withFaults(async ({ target, writer, at }) => {
        const setBlock = (value: boolean | null) =>
          target.ask('PUT', `${index}/_settings`, { 'index.blocks.read_only_allow_delete': value })
        await setBlock(true)
        const commit = commitBatch(writer, tellingBatch(at, at + 2))
        await until(() => events.length > 0)
        expect(events[0]).toEqual({ type: 'blocked', reason: expect.stringMatching(fullDisk) })
        await expectStored(target, at - 1)
        await setBlock(null)
        await commit
        expect(events.at(-1)?.type).toBe('unblocked')
        expect(await target.store.published()).toEqual(publishedAt(at + 2))
      }))

  test('commit: a small batch takes eight requests, and no separate refresh', () =>
    withFaults(async ({ faults, writer, at }) => {
      const sent: string[] = []
      faults.fateOf = ({ method, path }) => {
        sent.push(`${method} ${/_[a-z]+(?:\/checkpoint)?/.exec(path.replace(/\?.*/, ''))?.[0] ?? 'indices'}`)
        return pass
      }
      await commitBatch(writer, tellingBatch(at, at))
      expect(sent.toSorted()).toEqual([
        ...['GET indices', 'GET indices', 'POST _bulk', 'POST _bulk', 'POST _bulk'],
        ...['POST _msearch', 'POST _msearch', 'PUT _doc/checkpoint'],
      ])
    }))

  test('commit: a lagging copy after a lost answer is not taken for another loader', () =>
    withFaults(async ({ target, faults, writer, at }) => {
      const path = `/${target.prefix}-meta/_doc/checkpoint`
      const before = await (await fetch(target.url + path)).text()
      const lost = firstOf(isCheckpoint, 1, { type: 'cut-after' })
      const old: Fate = { type: 'answer', with: { status: 200, body: before } }
      const lagging = firstOf(asked => asked.method === 'GET' && asked.path.startsWith(path), 2, old)
      faults.fateOf = asked => (isCheckpoint(asked) ? lost(asked) : lagging(asked))
      await commitBatch(writer, tellingBatch(at, at))
      expect(events.map(({ type }) => type)).toEqual(['retry', 'retry', 'retry'])
      expect(await target.store.published()).toEqual(publishedAt(at))
    }))

  test('commit: a refused document fails the commit with its index, id and field, and the next attempt succeeds', () =>
    withFaults(async ({ target, faults, writer, at }) => {
      const id = blockId(at)
      const reason = `failed to parse field [hash8] of type [keyword] in document with id '${id}'`
      const refusal = { create: { status: 400, error: { type: 'document_parsing_exception', reason } } }
      const refuse = changeBody(body => {
        const { items } = JSON.parse(body) as { items: object[] }
        return JSON.stringify({ items: [refusal, ...items.slice(1)] })
      })
      faults.fateOf = firstOf(isBulk, 1, refuse)
      const refused = await failureOf(commitBatch(writer, batchOf(at, at + 1)))
      expect([refused.kind, refused.retryable]).toEqual(['defect', false])
      expect(refused.message).toContain(`${target.prefix}-blocks-000000-into '${id}'`)
      expect(refused.message).toContain('[hash8]')
      expect(await target.store.published()).toEqual(publishedAt(at - 1))
      // A batch with another end: the documents of the failed attempt must be gone.
      await commitBatch(writer, batchOf(at, at))
      expect(await countBlocks(target)).toBe(at + 1)
    }))

  test('commit: other content in place of its documents fails the commit', () =>
    withFaults(async ({ target, writer, at }) => {
      await target.ask('PUT', `blocks-000000/_create/${blockId(at)}`, { height: at, hash: 'of somebody else' })
      const refused = await failureOf(commitBatch(writer, batchOf(at, at)))
      expect(refused.kind).toBe('conflict')
      expect(refused.message).toContain(blockId(at))
      await commitBatch(writer, batchOf(at, at))
      const stored = await target.store.read(view => view.find(blocks, 'hash8', blockDoc(at).hash8))
      expect<unknown>(stored).toEqual([blockDoc(at)])
    }))

  test('takeOver: a loader that was silent for its lease is replaced, and its next commit fails', () =>
    withFaults(async ({ target, faults, writer: silent, at }) => {
      const gate = createGate()
      faults.fateOf = gate.hold
      const late = kindOf(commitBatch(silent, tellingBatch(at, at + 2)))
      await gate.came
      const next = await takeOverElsewhere(target)
      expect(next.checkpoint).toEqual(publishedAt(at - 1))
      await commitBatch(next, tellingBatch(at, at))
      gate.open()
      expect(await late).toBe('conflict')
      await commitBatch(next, tellingBatch(at + 1, at + 1))
      expect(await target.store.published()).toEqual(publishedAt(at + 1))
      await next.release()
      // The next take-over removes the documents that the late loader wrote above.
      const last = await takeOverElsewhere(target)
      expect(last.checkpoint).toEqual(publishedAt(at + 1))
      expect(await countBlocks(target)).toBe(at + 2)
      await last.release()
    }))

  test('takeOver: a loader that was silent while it removed history leaves the blocks of the one that replaced it', () =>
    withFaults(async ({ target, faults, through, writer, at }) => {
      await writer.release()
      const gate = createGate()
      faults.fateOf = ({ path }) => (path.includes('blocks-000000') && path.includes('/_refresh') ? gate.hold() : pass)
      const late = kindOf(through.takeOver(identity))
      await gate.came
      const next = await takeOverElsewhere(target)
      await commitBatch(next, tellingBatch(at, at))
      gate.open()
      expect(await late).toBe('conflict')
      expect(await countBlocks(target)).toBe(at + 1)
      await next.release()
    }))

  test('release: a process whose lease cannot be released may take the store over again', () =>
    withFaults(async ({ target, faults, through, writer, at }) => {
      const body = JSON.stringify({ error: { type: 'security_exception', reason: 'expired' }, status: 403 })
      faults.fateOf = firstOf(isCheckpoint, 1, { type: 'answer', with: { status: 403, body } })
      expect((await failureOf(writer.release())).message).toContain('may not write')
      // Ends the lease, which is that of a dead loader.
      await (await takeOverElsewhere(target)).release()
      const again = await through.takeOver(identity)
      expect(again.checkpoint).toEqual(publishedAt(at - 1))
      await again.release()
    }))

  test('takeOver: a late write of a dead loader is not a sign of life', () =>
    withFaults(async ({ target, faults, writer: dead, at }) => {
      const gate = createGate()
      let held = false
      faults.fateOf = asked => {
        if (held) return { type: 'cut-before' }
        if (!isCheckpoint(asked)) return pass
        held = true
        return gate.hold()
      }
      const late = commitBatch(dead, tellingBatch(at, at))
      await gate.came
      /** The sequence number increases with every write of the checkpoint. */
      const getSeqNo = async () => (await target.ask<{ _seq_no: number }>('GET', 'meta/_doc/checkpoint'))._seq_no
      const before = await getSeqNo()
      const sleep = async (ms: number): Promise<void> => {
        gate.open()
        await until(async () => (await getSeqNo()) !== before)
        await Bun.sleep(ms)
      }
      const next = await takeOverElsewhere(target, { leaseMs: 1_500, clock: { sleep } })
      // It lacks the batch, so it loads the blocks again.
      expect([next.checkpoint, next.floor]).toEqual([publishedAt(at - 1), at])
      await commitBatch(next, tellingBatch(at, at + 1))
      faults.fateOf = () => pass
      await late
      expect(await kindOf(commitBatch(dead, tellingBatch(at + 1, at + 1)))).toBe('conflict')
      expect(await target.store.published()).toEqual(publishedAt(at + 1))
      await next.release()
    }))

  test('read: a read waits from refresh to publication and returns the new height, never a mixture without the members that leave a ranking', () =>
    withFaults(async ({ target, faults, writer, at }) => {
      const [x, y, left] = [2n, 1n, 0n].map((amount, n) => balanceDoc('coin', n === 0 ? 'x' : 'y', { amount }))
      const changes = [x, y].map(doc => ({ index: balances, doc }) as StateChange)
      await commitBatch(writer, batchOf(at, at, { changes }))
      const gate = createGate()
      faults.fateOf = asked => (isPublication(asked) ? gate.hold() : pass)
      const leaves = [{ index: balances, doc: left, before: y } as StateChange]
      const commit = commitBatch(writer, batchOf(at + 1, at + 1, { changes: leaves }))
      await gate.came
      const holders = (options?: { signal: AbortSignal }) =>
        target.store.read(
          async view => [
            view.at.height,
            (await view.page(balances, 'holders', { group: 'coin', offset: 0, limit: 9 })).map(({ owner }) => owner),
          ],
          options,
        )
      expect(await kindOf(holders({ signal: AbortSignal.timeout(50) }))).toBe('deadline')
      const ranking = holders()
      // Unchanged documents are answered throughout.
      const unchanged = await target.store.read(async view => [view.at.height, await view.get(balances, 'coin/x')])
      expect<unknown>(unchanged).toEqual([at, x])
      gate.open()
      await commit
      expect(await ranking).toEqual([at + 1, ['x']])
      expect(await holders()).toEqual([at + 1, ['x']])
    }))

  for (const [what, path, read] of reads)
    for (const [fault, fate] of readFaults)
      test(`read: ${what} that ${fault} is requested again, and unavailable in the end, never incomplete`, async () => {
        const { target, faults, url } = place
        const expected = await target.store.read(read)
        for (const count of [1, Number.POSITIVE_INFINITY]) {
          // A new store has no cache.
          const store = target.reopen({ url, clock })
          faults.fateOf = firstOf(isAt(path), count, fate)
          if (count === 1) expect(await store.read(read)).toEqual(expected)
          else expect(await failureOf(store.read(read))).toMatchObject({ kind: 'unavailable', retryable: true })
          await store.close()
        }
      })
})
