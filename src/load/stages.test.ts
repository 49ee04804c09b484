import { expect, test } from 'bun:test'
import type { LoadedBlock } from '#chain/block.ts'
import { LINKED } from '#chain/proof.ts'
import type { BlockDocuments } from '#derive/derive-block.ts'
import type { BatchEnd, History } from '#store/port.ts'
import { batchOf, blockDoc, publishedAt, recordDoc, transactionDoc } from '#test/store/suite/fixture.ts'
import { chainOf, transaction } from '#test/support/stores/hand-made.ts'
import { batches, type ClosedBatch, type OpenBatch } from './batches.ts'
import { commits } from './commits.ts'
import { derived } from './derived.ts'
import { partitioning } from './partitioning.ts'
import type { Run } from './run.ts'
import { runs } from './runs.ts'

const blocksUpTo = (to: number): readonly LoadedBlock[] =>
  chainOf(...Array.from({ length: to + 1 }, () => []))
const documentsOf = (height: number, rows = 0): BlockDocuments => ({
  block: blockDoc(height),
  transactions: [transactionDoc(height, 1)],
  records: Array.from({ length: rows }, (_, at) => recordDoc(height, at)),
})
async function* streamOf<T>(items: Iterable<T>): AsyncGenerator<T, void, void> {
  yield* items
}
const heightsOf = (run: Run): number[] => run.map(({ block }) => block.height)

test('runs: 200 blocks or a million characters, whole segments, in order, each of them announced', async () => {
  const expected: number[] = []
  const proof = { expect: (segment: Run) => expected.push(segment.length) }
  const blocks = blocksUpTo(620)
  const segments = [
    blocks.slice(0, 150),
    blocks.slice(150, 260),
    blocks.slice(260, 459),
    blocks.slice(459, 461),
  ]
  const joined = await Array.fromAsync(runs(streamOf([...segments, blocks.slice(461)]), proof))
  expect(joined.map(({ length }) => length)).toEqual([260, 201, 160])
  expect(joined.flatMap(heightsOf)).toEqual(heightsOf(blocks))
  expect(expected).toEqual([150, 110, 199, 2, 160])

  const body = 'x'.repeat(400_000)
  const long = chainOf(...Array.from({ length: 7 }, () => [{ ...transaction({}), body }]))
  const each = long.map(block => [block])
  expect((await Array.fromAsync(runs(streamOf(each), proof))).map(heightsOf)).toEqual([
    [0, 1, 2],
    [3, 4, 5],
    [6],
  ])
})

/** Tells what is asked of a deriver and of the proofs, in order. */
const telling = (refused?: number) => {
  const told: string[] = []
  const deriver = {
    prefetch: (run: Run) => void told.push(`prefetch ${heightsOf(run)}`),
    begin: async (run: Run) => void told.push(`begin ${heightsOf(run)}`),
    derive: async ({ block: { height } }: LoadedBlock) => {
      told.push(`derive ${height}`)
      return documentsOf(height)
    },
  }
  const proof = {
    accepts: async ({ block }: LoadedBlock) => block.height !== refused,
    derived: async ({ block }: LoadedBlock) => void told.push(`derived ${block.height}`),
  }
  return { told, parts: { deriver, proof, signal: new AbortController().signal } }
}
const runsOf = (...lengths: readonly number[]): readonly Run[] => {
  const blocks = blocksUpTo(9).map(loaded => ({ ...loaded, proof: LINKED }))
  return lengths.map((length, at) => {
    const from = lengths.slice(0, at).reduce((sum, each) => sum + each, 0)
    return blocks.slice(from, from + length)
  })
}

test('derived: what a run needs is fetched while the one before is derived', async () => {
  const { told, parts } = telling()
  const documents = await Array.fromAsync(derived(streamOf(runsOf(2, 1, 1)), parts))
  expect(documents.map(({ block }) => block.height)).toEqual([0, 1, 2, 3])
  expect(told).toEqual([
    'prefetch 2',
    'begin 0,1',
    ...['derive 0', 'derived 0', 'derive 1', 'derived 1'],
    'prefetch 3',
    'begin 2',
    ...['derive 2', 'derived 2'],
    'begin 3',
    ...['derive 3', 'derived 3'],
  ])
})

test('derived: ends before a block that is not accepted, and asks for no more runs', async () => {
  const { told, parts } = telling(1)
  const asked: number[] = []
  const given = (async function* () {
    for (const run of runsOf(2, 1, 1)) {
      asked.push(run.length)
      yield run
    }
  })()
  expect((await Array.fromAsync(derived(given, parts))).length).toBe(1)
  expect(told).toEqual(['prefetch 2', 'begin 0,1', 'derive 0', 'derived 0'])
  expect(asked).toEqual([2, 1])
})

test('derived: an abort ends it after the run', async () => {
  const { told, parts } = telling()
  const stop = new AbortController()
  const heights: number[] = []
  for await (const { block } of derived(streamOf(runsOf(2, 1, 1)), { ...parts, signal: stop.signal })) {
    heights.push(block.height)
    stop.abort()
  }
  expect(heights).toEqual([0, 1])
  expect(told.filter(each => each.startsWith('begin'))).toEqual(['begin 0,1'])
})

const ANY = Number.POSITIVE_INFINITY
const LIB = publishedAt(0).lib
/**
 * Batches of blocks with so many rows, closed as they come, and pieces that went ahead. Time passes only between blocks:
 * `msPerBlock`, 0 unless given.
 */
const batchesOf = async (
  rows: readonly number[],
  bounds: {
    readonly documents: number
    readonly piece?: number
    readonly msPerBlock?: number
    readonly lib?: number
  },
  partitionDocuments = ANY,
) => {
  let now = 0
  const pieces: History[] = []
  const cuts: number[] = []
  const parts = {
    writer: { append: async (history: History) => void pieces.push(history) },
    deriver: { changed: () => 0, cut: () => [] },
    partitions: partitioning({ filling: { partition: 0, documents: 0 }, documents: partitionDocuments }),
    bounds: {
      documents: bounds.documents,
      bytes: ANY,
      ...(bounds.piece === undefined ? {} : { piece: { documents: bounds.piece, bytes: ANY } }),
    },
    clock: { elapsed: () => now },
    collect: (documents: number) => void cuts.push(documents),
    handedOver: async () => undefined,
  }
  const made: ClosedBatch[] = []
  const documents = (async function* () {
    for (const [height, count] of rows.entries()) {
      yield documentsOf(height, count)
      now += bounds.msPerBlock ?? 0
    }
  })()
  for await (const open of batches(documents, parts, bounds.lib ?? LIB)) made.push(open.close())
  return { made, pieces, cuts }
}

test('batches: full ones, and the rest', async () => {
  const { made, cuts } = await batchesOf([1, 0, 3, 0, 0], { documents: 5 })
  expect(made.map(({ rest, end }) => [rest.blocks[0]?.height, end.height])).toEqual([
    [0, 1],
    [2, 2],
    [3, 4],
  ])
  expect(cuts).toEqual([3, 2, 5, 2, 2])
  expect((await batchesOf([], { documents: 5 })).made).toEqual([])
})

test('batches: a batch goes to one partition', async () => {
  const { made } = await batchesOf([0, 0, 0, 0, 0], { documents: ANY }, 4)
  expect(made.map(({ rest, end }) => [rest.blocks[0]?.height, end.height, rest.filling])).toEqual([
    [0, 1, { partition: 0, documents: 4 }],
    [2, 3, { partition: 1, documents: 4 }],
    [4, 4, { partition: 2, documents: 2 }],
  ])
})

test('batches: one that fills slowly ends after two seconds, far from the head after fifteen', async () => {
  const endsOf = async (lib: number) => {
    const { made } = await batchesOf(new Array(20).fill(0), { documents: ANY, msPerBlock: 1_000, lib })
    return made.map(({ end }) => end.height)
  }
  expect(await endsOf(1_000)).toEqual([3, 7, 11, 15, 19])
  expect(await endsOf(2_000)).toEqual([16, 19])
})

test('batches: history is appended piece by piece; each block is in a piece or in the rest of its batch', async () => {
  const { made, pieces } = await batchesOf([0, 0, 0, 0, 0, 0, 0], { documents: 10, piece: 4 })
  expect(pieces.map(({ blocks }) => blocks.map(({ height }) => height))).toEqual([
    [0, 1],
    [2, 3],
    [5, 6],
  ])
  expect(made.map(({ end, rest }) => [end.height, rest.blocks.map(({ height }) => height)])).toEqual([
    [4, [4]],
    [6, []],
  ])
})

test('commits: a batch is closed when the one before is in the store; a failure is thrown by the next one', async () => {
  const told: string[] = []
  const ways = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const parts = {
    writer: {
      append: async ({ blocks }: History) => void told.push(`append ${blocks.map(({ height }) => height)}`),
      commit: async ({ end }: BatchEnd) => {
        told.push(`commit ${end.height}`)
        await ways[end.height]?.promise
      },
    },
    deriver: { settled: () => void told.push('settled') },
    proof: { cut: () => async () => undefined },
  }
  const openAt = (height: number): OpenBatch => ({
    transactions: 1,
    records: 2,
    close: () => {
      told.push(`close ${height}`)
      const { end, changes, ...rest } = batchOf(height, height)
      return { end, changes, rest }
    },
  })
  const made = commits(parts, ({ end, transactions, records }) => {
    told.push(`committed ${end.height}: ${transactions}, ${records}`)
  })
  await made.add(openAt(0))
  const second = made.add(openAt(1))
  await Bun.sleep(0)
  expect(told).toEqual(['close 0', 'append 0', 'commit 0'])
  ways[0]?.resolve()
  await second
  await Bun.sleep(0)
  expect(told.splice(0)).toEqual([
    'close 0',
    'append 0',
    'commit 0',
    'settled',
    'committed 0: 1, 2',
    'close 1',
    'append 1',
    'commit 1',
  ])
  ways[1]?.reject(new Error('no room'))
  expect(await made.add(openAt(2)).catch(String)).toBe('Error: no room')
  expect(told).toEqual([])
  await made.settle()
})

/** Two batches with a piece each on their way to a writer; nodes are asked about the end of a batch before it is committed. */
const pieceAhead = (agreed: Promise<void>) => {
  const told: string[] = []
  const second = Promise.withResolvers<void>()
  const writer = {
    append: async ({ blocks }: History) => void told.push(`append ${blocks.map(({ height }) => height)}`),
    commit: async ({ end }: BatchEnd) => void told.push(`commit up to ${end.height}`),
  }
  const made = commits(
    {
      writer,
      deriver: { settled: () => undefined },
      proof: {
        cut: () => async () => {
          await agreed
          return undefined
        },
      },
    },
    () => undefined,
  )
  const documents = (async function* () {
    for (const height of [0, 1, 2, 3]) {
      if (height === 3) second.resolve()
      yield documentsOf(height)
    }
  })()
  const parts = {
    writer,
    deriver: { changed: () => 0, cut: () => [] },
    partitions: partitioning(undefined),
    bounds: { documents: 4, bytes: ANY, piece: { documents: 2, bytes: ANY } },
    clock: { elapsed: () => 0 },
    collect: () => undefined,
    handedOver: made.handedOver,
  }
  const work = (async () => {
    for await (const open of batches(documents, parts, LIB)) await made.add(open)
    await made.settle()
  })()
  return { told, work, onSecondPiece: second.promise }
}

test('batches, commits: history goes ahead only once the batch before is with the store, however long nodes are asked', async () => {
  const nodes = Promise.withResolvers<void>()
  const { told, work, onSecondPiece } = pieceAhead(nodes.promise)
  await onSecondPiece
  await Bun.sleep(0)
  expect(told).toEqual(['append 0'])
  nodes.resolve()
  await work
  expect(told).toEqual(['append 0', 'append 1', 'commit up to 1', 'append 2', 'append 3', 'commit up to 3'])
})

test('batches, commits: nothing goes ahead of a batch after one that nodes disagree on', async () => {
  const nodes = Promise.withResolvers<void>()
  const { told, work, onSecondPiece } = pieceAhead(nodes.promise)
  await onSecondPiece
  nodes.reject(new Error('the nodes disagree'))
  expect(await work.catch(String)).toBe('Error: the nodes disagree')
  expect(told).toEqual(['append 0'])
})
