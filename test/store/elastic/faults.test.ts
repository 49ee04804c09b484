import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { balanceId, balances } from '#indices/balance.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { StateChange } from '#indices/registry.ts'
import type { WealthDoc } from '#indices/wealth.ts'
import { wealth } from '#indices/wealth.ts'
import type { WriteEvent } from '#store/elastic/client/sender.ts'
import type { Writer } from '#store/port.ts'
import { batchOf, blockDoc, identity, publishedAt, tellingBatch, totalAt } from '#test/store/suite/fixture.ts'
import { failureOf, kindOf } from '#test/store/suite/harness.ts'
import { type Answered, type Asked, type Fate, pass } from '#test/support/nodes/faulty-proxy.ts'
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

type Setting = BehindProxy & { readonly events: WriteEvent[] }

let shared: Setting

/** One set of indices for all cases. Each case begins at the height where the previous one ended. */
async function openShared(): Promise<Setting> {
  const events: WriteEvent[] = []
  const onEvent = (event: WriteEvent) => void events.push(event)
  return { ...(await openBehindProxy({ leaseMs: 600_000, clock, onEvent })), events }
}

/** Runs a case with a writer behind the proxy. `at` is its first height. */
async function withFaults(body: (setting: Setting & { writer: Writer; at: number }) => Promise<void>) {
  shared.faults.fateOf = () => pass
  shared.events.length = 0
  const writer = await shared.through.takeOver(identity)
  if (writer.checkpoint === undefined) await commitBatch(writer, tellingBatch(0, 0))
  try {
    await body({ ...shared, writer, at: (writer.checkpoint?.height ?? 0) + 1 })
  } finally {
    shared.faults.fateOf = () => pass
    await writer.release()
  }
}

const isCheckpoint = ({ method, path }: Asked): boolean => method === 'PUT' && path.includes('/_doc/checkpoint')
const isBulk = ({ path }: Asked): boolean => path.startsWith('/_bulk')

/** Applies `fate` to the first `count` requests that `which` selects. */
function firstOf(which: (asked: Asked) => boolean, count: number, fate: Fate) {
  let left = count
  return (asked: Asked): Fate => (which(asked) && left-- > 0 ? fate : pass)
}

const owners = (target: TestElastic): Promise<readonly WealthDoc[]> =>
  target.store.read(view => view.page(wealth, 'richest', { offset: 0, limit: 10 }))

/** Answers 429 for the first and every third item of a bulk, although the server has handled them. */
function every3rdTooMany({ status, body }: Answered): Answered {
  const { items } = JSON.parse(body) as { items: Record<string, object>[] }
  const error = { type: 'es_rejected_execution_exception', reason: 'queue full' }
  const changed = items.map((item, at) => {
    const [action = ''] = Object.keys(item)
    return at % 3 === 0 ? { [action]: { status: 429, error } } : item
  })
  return { status, body: JSON.stringify({ items: changed }) }
}

/** The answer of a refresh that did not reach one copy. */
const oneCopyMissed = ({ status }: Answered): Answered => ({
  status,
  body: '{"_shards":{"total":2,"successful":1,"failed":1}}',
})

/** The answer of a bulk whose writes were not made searchable. */
const notSearchable = ({ status, body }: Answered): Answered => ({
  status,
  body: body.replaceAll('"forced_refresh":true', '"forced_refresh":false'),
})

const isMget = ({ path }: Asked): boolean => path.startsWith('/_mget')

/** The answer of `_mget` from a copy that does not have the documents yet. */
function nothingYet({ status, body }: Answered): Answered {
  const { docs } = JSON.parse(body) as { docs: { _index: string; _id: string }[] }
  return {
    status,
    body: JSON.stringify({ docs: docs.map(({ _index, _id }) => ({ _index, _id, found: false })) }),
  }
}

/** Number of writes of a block's document, whatever their answers. */
const writesOf = async ({ ask }: TestElastic, height: number): Promise<number> =>
  (await ask<{ _version: number }>('GET', `blocks-000000/_doc/${blockId(height)}`))._version

/** [lost answer, fates, number of writes of the batch's rows in the end, retries] */
const unclearCases: readonly (readonly [string, () => (asked: Asked) => Fate, number, number])[] = [
  ['nothing', () => () => pass, 1, 0],
  ['the answer to the rows', () => firstOf(isBulk, 1, { type: 'cut-after' }), 2, 1],
  ['the rows before they arrive', () => firstOf(isBulk, 1, { type: 'cut-before' }), 1, 1],
  [
    'the answer to the rows, and the one to the second writing',
    () => {
      const rows = firstOf(isBulk, 1, { type: 'cut-after' })
      const again = firstOf(({ body }) => body.includes('if_seq_no'), 1, { type: 'cut-after' })
      return asked => (asked.body.includes('if_seq_no') ? again(asked) : rows(asked))
    },
    3,
    3,
  ],
  [
    'the answer to the rows, while a copy has none of them yet',
    () => {
      const rows = firstOf(isBulk, 1, { type: 'cut-after' })
      const lagging = firstOf(isMget, 1, { type: 'change', to: nothingYet })
      let cut = false
      return asked => {
        // The store also sends _mget before the commit.
        if (isMget(asked)) return cut ? lagging(asked) : pass
        const fate = rows(asked)
        cut ||= fate.type === 'cut-after'
        return fate
      }
    },
    2,
    2,
  ],
]

const faultCases: readonly (readonly [string, (asked: Asked) => Fate, retries: number])[] = [
  ['the answer to the checkpoint is lost', firstOf(isCheckpoint, 1, { type: 'cut-after' }), 1],
  ['it is lost three times', firstOf(isCheckpoint, 3, { type: 'cut-after' }), 3],
  ['the checkpoint never arrives', firstOf(isCheckpoint, 2, { type: 'cut-before' }), 2],
  ['the server is busy at the checkpoint', firstOf(isCheckpoint, 1, busy(503)), 1],
  ['answers to all writes are lost', firstOf(isBulk, 3, { type: 'cut-after' }), 3],
  ['writes never arrive', firstOf(isBulk, 2, { type: 'cut-before' }), 2],
  ['whole writes are refused', firstOf(isBulk, 2, busy(429)), 2],
  ['some items are refused', firstOf(isBulk, 2, { type: 'change', to: every3rdTooMany }), 2],
  ['writes make nothing searchable', unrefreshed(pass, 0), 0],
  ['a refresh does not reach every copy', unrefreshed({ type: 'change', to: oneCopyMissed }, 2), 2],
  ['refreshes fail', unrefreshed(busy(503), 2), 2],
]

function busy(status: number): Fate {
  return { type: 'answer', with: { status, body: '{"error":{"type":"busy","reason":"too much to do"}}' } }
}

/** No write becomes searchable at once, and `fate` applies to the first `count` refreshes. */
function unrefreshed(fate: Fate, count: number): (asked: Asked) => Fate {
  const refreshes = firstOf(({ path }) => path.includes('/_refresh'), count, fate)
  return asked => (isBulk(asked) ? { type: 'change', to: notSearchable } : refreshes(asked))
}

const countBlocks = async ({ ask }: TestElastic): Promise<number> =>
  (await ask<{ count: number }>('GET', 'blocks/_count')).count

/** The sequence number increases with every write of the checkpoint. */
const seqNoOf = async ({ ask }: TestElastic): Promise<number> =>
  (await ask<{ _seq_no: number }>('GET', 'meta/_doc/checkpoint'))._seq_no

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  beforeAll(async () => {
    shared = await openShared()
  })
  afterAll(() => shared[Symbol.asyncDispose]())

  for (const [name, fateOf, retries] of faultCases)
    test(`commit: the batch is stored exactly once when ${name}`, () =>
      withFaults(async ({ target, faults, events, writer, at }) => {
        faults.fateOf = fateOf
        await commitBatch(writer, tellingBatch(at, at + 4))
        await commitBatch(writer, tellingBatch(at + 5, at + 5))
        expect(await target.store.published()).toEqual(publishedAt(at + 5))
        expect((await owners(target)).map(({ total }) => total)).toEqual([totalAt(at + 5), totalAt(at + 5)])
        expect(await countBlocks(target)).toBe(at + 6)
        expect(events.map(({ type }) => type)).toEqual(new Array(retries).fill('retry'))
      }))

  for (const [name, fates, writes, retries] of unclearCases)
    test(`commit: rows are stored when a write of them was answered, also when this is lost: ${name}`, () =>
      withFaults(async ({ target, faults, events, writer, at }) => {
        faults.fateOf = fates()
        await commitBatch(writer, tellingBatch(at, at + 1))
        expect([await writesOf(target, at), await writesOf(target, at + 1)]).toEqual([writes, writes])
        expect(events.map(({ type }) => type)).toEqual(new Array(retries).fill('retry'))
        expect(await target.store.published()).toEqual(publishedAt(at + 1))
        expect(await countBlocks(target)).toBe(at + 2)
      }))

  test('commit: the commit waits while writes are blocked, and continues by itself', () =>
    withFaults(async ({ target, events, writer, at }) => {
      const setBlock = (value: boolean | null) =>
        target.ask('PUT', 'records-000000/_settings', { 'index.blocks.read_only_allow_delete': value })
      await setBlock(true)
      const commit = commitBatch(writer, tellingBatch(at, at + 2))
      await until(() => events.length > 0)
      expect(events[0]).toEqual({
        type: 'blocked',
        reason: expect.stringMatching(
          /The fullest disk is that of server \S+ \(\/.*\): [\d.]+ of [\d.]+ GB are free\.$/,
        ),
      })
      expect(await target.store.published()).toEqual(publishedAt(at - 1))
      await setBlock(null)
      await commit
      expect(events.map(({ type }) => type)).toEqual(['blocked', 'unblocked'])
      expect(await target.store.published()).toEqual(publishedAt(at + 2))
    }))

  test('commit: the commit waits while not even the checkpoint can be written on a full disk', () =>
    withFaults(async ({ target, events, writer, at }) => {
      const setBlock = (value: boolean | null) =>
        target.ask('PUT', '*/_settings', { 'index.blocks.read_only_allow_delete': value })
      await setBlock(true)
      const commit = commitBatch(writer, tellingBatch(at, at + 2))
      await until(() => events.length > 0)
      expect((await owners(target)).map(({ total }) => total)).toEqual([totalAt(at - 1), totalAt(at - 1)])
      await setBlock(null)
      await commit
      expect(await target.store.published()).toEqual(publishedAt(at + 2))
    }))

  test('commit: a lagging copy after a lost answer is not taken for another loader', () =>
    withFaults(async ({ target, faults, events, writer, at }) => {
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
      const error = { type: 'document_parsing_exception', reason }
      faults.fateOf = firstOf(isBulk, 1, {
        type: 'change',
        to: ({ status, body }) => {
          const { items } = JSON.parse(body) as { items: object[] }
          return {
            status,
            body: JSON.stringify({ items: [{ create: { status: 400, error } }, ...items.slice(1)] }),
          }
        },
      })
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
      const { promise: woken, resolve: wake } = Promise.withResolvers<void>()
      const { promise: asleep, resolve: sleeping } = Promise.withResolvers<void>()
      faults.fateOf = () => {
        sleeping()
        return { type: 'hold', until: woken }
      }
      const late = kindOf(commitBatch(silent, tellingBatch(at, at + 2)))
      await asleep
      // On another machine.
      const next = await target.reopen({ openStateFile: openOtherState }).takeOver(identity)
      expect(next.checkpoint).toEqual(publishedAt(at - 1))
      await commitBatch(next, tellingBatch(at, at))
      wake()
      expect(await late).toBe('conflict')
      await commitBatch(next, tellingBatch(at + 1, at + 1))
      expect(await target.store.published()).toEqual(publishedAt(at + 1))
      await next.release()
      // The next take-over removes the documents that the late loader wrote above.
      const last = await target.reopen({ openStateFile: openOtherState }).takeOver(identity)
      expect(last.checkpoint).toEqual(publishedAt(at + 1))
      expect(await countBlocks(target)).toBe(at + 2)
      await last.release()
    }))

  test('takeOver: a loader that was silent while it removed history leaves the blocks of the one that replaced it', () =>
    withFaults(async ({ target, faults, through, writer, at }) => {
      await writer.release()
      const { promise: woken, resolve: wake } = Promise.withResolvers<void>()
      const { promise: asleep, resolve: sleeping } = Promise.withResolvers<void>()
      faults.fateOf = ({ path }) => {
        if (!path.includes('blocks-000000') || !path.includes('/_refresh')) return pass
        sleeping()
        return { type: 'hold', until: woken }
      }
      const late = kindOf(through.takeOver(identity))
      await asleep
      const next = await target.reopen({ openStateFile: openOtherState }).takeOver(identity)
      await commitBatch(next, tellingBatch(at, at))
      wake()
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
      await (await target.reopen({ openStateFile: openOtherState }).takeOver(identity)).release()
      const again = await through.takeOver(identity)
      expect(again.checkpoint).toEqual(publishedAt(at - 1))
      await again.release()
    }))

  test('takeOver: a late write of a dead loader is not a sign of life', () =>
    withFaults(async ({ target, faults, writer: dead, at }) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const { promise: sent, resolve: sending } = Promise.withResolvers<void>()
      let held = false
      faults.fateOf = asked => {
        if (held) return { type: 'cut-before' }
        if (!isCheckpoint(asked)) return pass
        held = true
        sending()
        return { type: 'hold', until: released }
      }
      const late = commitBatch(dead, tellingBatch(at, at))
      await sent
      const before = await seqNoOf(target)
      const sleep = async (ms: number): Promise<void> => {
        release()
        await until(async () => (await seqNoOf(target)) !== before)
        await Bun.sleep(ms)
      }
      const next = await target
        .reopen({ leaseMs: 3_000, clock: { sleep }, openStateFile: openOtherState })
        .takeOver(identity)
      // It lacks the batch, so it loads the blocks again.
      expect([next.checkpoint, next.floor]).toEqual([publishedAt(at - 1), at])
      await commitBatch(next, tellingBatch(at, at + 1))
      faults.fateOf = () => pass
      await late
      expect(await kindOf(commitBatch(dead, tellingBatch(at + 1, at + 1)))).toBe('conflict')
      expect(await target.store.published()).toEqual(publishedAt(at + 1))
      await next.release()
    }))

  test('read: a read waits from refresh to publication and returns the new height, never a mixture', () =>
    withFaults(async ({ target, faults, writer, at }) => {
      await commitBatch(writer, tellingBatch(at, at))
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const { promise: refreshed, resolve: ready } = Promise.withResolvers<void>()
      faults.fateOf = asked => {
        if (!isBulk(asked) || !asked.body.includes('"published"')) return pass
        ready()
        return { type: 'hold', until: released }
      }
      const commit = commitBatch(writer, tellingBatch(at + 1, at + 1))
      await refreshed
      const ranking = owners(target)
      const one = target.store.read(view => view.get(wealth, 'a'))
      const signal = AbortSignal.timeout(50)
      expect(await kindOf(target.store.read(view => view.get(wealth, 'a'), { signal }))).toBe('deadline')
      expect(await target.store.published()).toEqual(publishedAt(at))
      release()
      await commit
      expect((await ranking).map(({ total }) => total)).toEqual([totalAt(at + 1), totalAt(at + 1)])
      expect((await one)?.total).toBe(totalAt(at + 1))
      expect(await target.store.published()).toEqual(publishedAt(at + 1))
    }))

  test('read: a ranking does not lack members that leave it at an unpublished height', () =>
    withFaults(async ({ target, faults, writer, at }) => {
      const holding = (owner: string, amount: bigint) => ({
        id: balanceId('coin', owner),
        token: 'coin',
        owner,
        amount,
        frozen: 0n,
        frozen_list: [],
      })
      const holds = (owner: string, amount: bigint): StateChange => ({
        index: balances,
        doc: holding(owner, amount),
      })
      await commitBatch(writer, batchOf(at, at, { changes: [holds('x', 2n), holds('y', 1n)] }))
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const { promise: refreshed, resolve: ready } = Promise.withResolvers<void>()
      faults.fateOf = asked => {
        if (!isBulk(asked) || !asked.body.includes('"published"')) return pass
        ready()
        return { type: 'hold', until: released }
      }
      const commit = commitBatch(
        writer,
        batchOf(at + 1, at + 1, { changes: [{ ...holds('y', 0n), before: holding('y', 1n) } as StateChange] }),
      )
      await refreshed
      const holders = (options?: { signal: AbortSignal }) =>
        target.store.read(
          async view => [
            view.at.height,
            (await view.page(balances, 'holders', { group: 'coin', offset: 0, limit: 9 })).map(({ owner }) => owner),
          ],
          options,
        )
      expect(await kindOf(holders({ signal: AbortSignal.timeout(50) }))).toBe('deadline')
      // Unchanged documents are answered throughout.
      const x = await target.store.read(async view => [
        view.at.height,
        await view.get(balances, balanceId('coin', 'x')),
      ])
      expect<unknown>(x).toEqual([at, holds('x', 2n).doc])
      release()
      await commit
      expect(await holders()).toEqual([at + 1, ['x']])
    }))
})
