import { expect, mock, test } from 'bun:test'
import fc from 'fast-check'
import type { BatchEnd, History } from '#store/port.ts'
import { blockDoc, publishedAt, recordDoc, transactionDoc } from '#test/store/suite/fixture.ts'
import { batchBuilder, createBatches, createCollector, createPartitioning } from './batches.ts'

const ANY = Number.POSITIVE_INFINITY
const filling = { partition: 0, documents: 0 }
/** Documents of a block with some records and one transaction. */
const blockWith = (height: number, rows: number) => ({
  block: blockDoc(height),
  transactions: [transactionDoc(height, 1)],
  records: Array.from({ length: rows }, (_, at) => recordDoc(height, at)),
})

test('batchBuilder: a batch is full by its documents, in memory or not, by its bytes, or by the state it changes', () => {
  const builder = batchBuilder({ documents: 6, bytes: ANY, changes: 10, chunk: { documents: 1, bytes: ANY } })
  builder.add(blockWith(0, 1))
  builder.takePart(filling)
  expect([builder.full(9), builder.full(10), builder.empty]).toEqual([false, true, false])
  builder.add(blockWith(1, 1))
  expect(builder.full(0)).toBe(true)
  const small = batchBuilder({ documents: ANY, bytes: 1 })
  expect([small.empty, small.full(0)]).toEqual([true, false])
  small.add(blockWith(0, 0))
  expect([small.full(0), small.partFull]).toEqual([true, false])
})

const LIB = publishedAt(0).lib
const heightsOf = ({ blocks }: History): number[] => blocks.map(({ height }) => height)

type Course = { readonly [bound in 'chunk' | 'partition' | 'msPerBlock' | 'lib']?: number } & {
  readonly documents: number
  /** Awaited hooks: `agreed` before the batch of this height goes to the store, `stored` after it. */
  readonly agreed?: (height: number) => Promise<void> | undefined
  readonly stored?: (height: number) => Promise<void> | undefined
}

/** Adds a block per number of rows, and records what reaches the store. Time passes only between blocks. */
function batchesOf(rows: readonly number[], course: Course) {
  let now = 0
  const events: string[] = []
  const ends: number[] = []
  const parts: History[] = []
  const cuts: number[] = []
  const batches = createBatches(
    {
      writer: {
        append: async history => {
          parts.push(history)
          events.push(`append ${heightsOf(history)}`)
        },
        commit: async ({ end }: BatchEnd) => {
          ends.push(end.height)
          events.push(`commit ${end.height}`)
          await course.stored?.(end.height)
        },
      },
      deriver: { changed: () => 0, cut: () => [] },
      proof: {
        cut: async ({ height }) => {
          await course.agreed?.(height)
          return undefined
        },
      },
      partitions: createPartitioning({ filling, documents: course.partition ?? ANY }),
      bounds: {
        documents: course.documents,
        bytes: ANY,
        ...(course.chunk === undefined ? {} : { chunk: { documents: course.chunk, bytes: ANY } }),
      },
      clock: { elapsed: () => now },
      collect: documents => void cuts.push(documents),
    },
    ({ end, transactions, records }) => void events.push(`committed ${end.height}: ${transactions}, ${records}`),
  )
  const add = async (height: number, count: number): Promise<void> => {
    await batches.add(blockWith(height, count), course.lib ?? LIB)
    now += course.msPerBlock ?? 0
  }
  const work = (async () => {
    for (const [height, count] of rows.entries()) await add(height, count)
    await batches.end(course.lib ?? LIB)
  })()
  return { work, events, ends, parts, cuts, batches }
}

test('createBatches: full batches are closed, and the rest at the end', async () => {
  const { work, ends, parts, cuts } = batchesOf([1, 0, 3, 0, 0], { documents: 5 })
  await work
  expect(ends).toEqual([1, 2, 4])
  expect(parts.map(heightsOf)).toEqual([[0, 1], [2], [3, 4]])
  expect(cuts).toEqual([3, 2, 5, 2, 2])
  const none = batchesOf([], { documents: 5 })
  await none.work
  expect(none.events).toEqual([])
})

test('createBatches: a batch belongs to one partition', async () => {
  const { work, parts } = batchesOf([0, 0, 0, 0, 0], { documents: ANY, partition: 4 })
  await work
  expect(parts.map(part => [heightsOf(part), part.filling])).toEqual([
    [[0, 1], { partition: 0, documents: 4 }],
    [[2, 3], { partition: 1, documents: 4 }],
    [[4], { partition: 2, documents: 2 }],
  ])
})

test('createBatches: a slow batch ends after two seconds; far from the head the first at once, others after fifteen', async () => {
  const endsOf = async (lib: number) => {
    const { work, ends } = batchesOf(new Array(20).fill(0), { documents: ANY, msPerBlock: 1_000, lib })
    await work
    return ends
  }
  expect(await endsOf(1_000)).toEqual([3, 7, 11, 15, 19])
  expect(await endsOf(2_000)).toEqual([1, 18, 19])
})

test('createBatches: an old batch continues to fill while the previous one is being stored', async () => {
  const stored = Promise.withResolvers<void>()
  const course = { documents: ANY, msPerBlock: 1_000 }
  const { work, ends } = batchesOf(new Array(12).fill(0), { ...course, stored: () => stored.promise })
  await Bun.sleep(0)
  expect(ends).toEqual([3])
  stored.resolve()
  await work
  expect(ends).toEqual([3, 11])
})

test('createBatches: history is appended in parts, and each block is in one part', async () => {
  const { work, events } = batchesOf([0, 0, 0, 0, 0, 0, 0], { documents: 10, chunk: 4 })
  await work
  expect(events).toEqual([
    ...['append 0,1', 'append 2,3', 'append 4', 'commit 4', 'committed 4: 5, 0'],
    ...['append 5,6', 'append ', 'commit 6', 'committed 6: 2, 0'],
  ])
})

test('createBatches: a batch is closed when the previous one is stored, and a failure is thrown by the next call', async () => {
  const ways = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { work, events, batches } = batchesOf([2, 2, 2], { documents: 1, stored: height => ways[height]?.promise })
  await Bun.sleep(0)
  expect(events.splice(0)).toEqual(['append 0', 'commit 0'])
  ways[0]?.resolve()
  await Bun.sleep(0)
  expect(events.splice(0)).toEqual(['committed 0: 1, 2', 'append 1', 'commit 1'])
  ways[1]?.reject(new Error('no room'))
  expect(await work.catch(String)).toBe('Error: no room')
  expect(events).toEqual([])
  await batches.settle()
})

test('createBatches: history is written ahead only after the previous batch is with the store, however slow the nodes are', async () => {
  const nodes = Promise.withResolvers<void>()
  const course = { documents: 4, chunk: 2, agreed: () => nodes.promise }
  const { work, events } = batchesOf([0, 0, 0, 0], course)
  await Bun.sleep(0)
  // The last block of the first batch is appended together with the end of that batch.
  expect(events).toEqual(['append 0'])
  nodes.resolve()
  await work
  const written = ['append 0', 'append 1', 'commit 1', 'append 2', 'append 3', 'commit 3']
  expect(events.filter(each => !each.includes('ed'))).toEqual(written)
  const disagreeing = batchesOf([0, 0, 0, 0], { ...course, agreed: () => Promise.reject(new Error('they disagree')) })
  expect(await disagreeing.work.catch(String)).toBe('Error: they disagree')
  expect(disagreeing.events).toEqual(['append 0'])
})

test('createPartitioning: after any checkpoint the partitions are as without it', () => {
  const rows = fc.array(fc.nat(20), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 60 }), fc.nat(40), (blocks, partitionDocuments, stop) => {
      const follow = (begin: typeof filling, from: number, to: number) => {
        const partitions = createPartitioning({ filling: begin, documents: partitionDocuments })
        const numbers = blocks.slice(from, to).map((count, at) => {
          const number = partitions.next()
          partitions.add(blockWith(from + at, count))
          return number
        })
        return { numbers, filling: partitions.filling() }
      }
      const whole = follow(filling, 0, blocks.length)
      const first = follow(filling, 0, stop)
      const rest = follow(first.filling, stop, blocks.length)
      expect([...first.numbers, ...rest.numbers]).toEqual(whole.numbers)
      expect(rest.filling).toEqual(whole.filling)
    }),
  )
})

const MB = 1_000_000

test.each([
  // A small process is not collected, garbage is bounded at any rate, and a mostly live heap is not collected each time.
  [0, 190, 190, [0, 0]],
  [100, 100_000, 250, [500, 100_000]],
  [1_000, 1_000, 1_200, [0, 30]],
] as const)(
  'collector: with %d MB of live memory, %d growths of 1 MB',
  (...[lives, calls, most, [atLeast, atMost]]) => {
    let [resident, peak, collections] = [0, 0, 0]
    const collect = createCollector({
      resident: () => resident,
      collect: () => {
        resident = Math.min(resident, lives * MB)
        collections++
      },
    })
    for (let call = 0; call < calls; call++) {
      resident += MB
      collect(1_000)
      peak = Math.max(peak, resident)
    }
    expect(peak).toBeLessThanOrEqual(most * MB)
    expect([collections >= atLeast, collections <= atMost]).toEqual([true, true])
  },
)

test('createCollector: memory is measured once per thousand documents', () => {
  const resident = mock(() => 0)
  const collect = createCollector({ resident, collect: () => undefined })
  for (let document = 0; document < 5_500; document++) collect(1)
  expect(resident).toHaveBeenCalledTimes(5)
})
