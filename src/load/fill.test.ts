import { expect, test } from 'bun:test'
import { LINKED, type LoadedBlock } from '#chain/block.ts'
import { Failure } from '#failure/failure.ts'
import { blockDoc } from '#test/store/suite/fixture.ts'
import { chainOf } from '#test/support/stores/hand-made.ts'
import { fill, type Stages, stageTimer } from './fill.ts'
import { loadedHeight } from './load.ts'
import { type Failed, type ProofSegment, readSegments } from './proving.ts'

const heightsOf = (segment: ProofSegment): number[] => segment.map(({ block }) => block.height)
async function* streamOf<T>(items: Iterable<T>): AsyncGenerator<T, void, void> {
  yield* items
}
/** A chain of segments with these lengths; a signature ends each segment, or none does. */
function segmentsOf(lengths: readonly number[], signed = true): readonly ProofSegment[] {
  const blocks = chainOf(...Array.from({ length: lengths.reduce((a, b) => a + b, 0) }, () => []))
  return lengths.map((length, at) => {
    const from = lengths.slice(0, at).reduce((sum, each) => sum + each, 0)
    return blocks.slice(from, from + length).map((block, i) => ({
      ...block,
      proof: { level: 'signed' as const, ...(signed && i === length - 1 ? { signedBy: 'key' } : {}) },
    }))
  })
}
async function allSegments(blocks: Iterable<LoadedBlock>): Promise<readonly ProofSegment[]> {
  const reader = readSegments(streamOf(blocks))
  const segments: ProofSegment[] = []
  for (let next = await reader.next(); next !== undefined; next = await reader.next()) segments.push(next)
  return segments
}

test('readSegments: a signature, a block without one and genesis each end a segment; unsigned blocks at the end are dropped', async () => {
  // Genesis has no signature and is a segment of its own.
  const segments = segmentsOf([1, 23, 2, 149])
  const unsigned = segmentsOf([3], false).flat().slice(1)
  expect(await allSegments([...segments.flat(), ...unsigned])).toEqual(segments)
  const linked = chainOf([], [], []).map(block => ({ ...block, proof: LINKED }))
  expect((await allSegments(linked)).map(heightsOf)).toEqual([[0], [1], [2]])
})

test('readSegments: blocks before a failure are returned, then the failure is thrown and the source closed', async () => {
  const error = new Error('gone')
  let closed = 0
  const source = async function* () {
    try {
      yield* segmentsOf([1, 2]).flat()
      throw error
    } finally {
      closed++
    }
  }
  const failing = readSegments(source())
  expect((await failing.next())?.length).toBe(1)
  expect((await failing.next())?.length).toBe(2)
  expect([await failing.next(), failing.failure]).toEqual([undefined, { error }])
  const left = readSegments(source())
  await left.close()
  expect([left.failure, closed]).toEqual([undefined, 1])
})

/** Stages that record their calls, in order; the segment that begins with block `refused` is refused. */
function noting({ refused, onAdd = () => undefined }: { refused?: number; onAdd?: () => void } = {}) {
  const asked: string[] = []
  let refusal: Failed | undefined
  const note = async (text: string): Promise<void> => void asked.push(text)
  const stages: Stages = {
    deriver: {
      derive: async ({ block: { height } }) => {
        await note(`derive ${height}`)
        return { block: blockDoc(height), transactions: [], records: [] }
      },
    },
    proof: {
      accepts: async segment => {
        if (segment[0]?.block.height !== refused) return true
        refusal = { error: new Error('refused') }
        return false
      },
      get refusal() {
        return refusal
      },
      derived: ({ block }) => note(`derived ${block.height}`),
    },
    batches: {
      add: async ({ block }) => {
        await note(`add ${block.height}`)
        onAdd()
      },
      end: () => note('end'),
    },
    clock: { elapsed: () => 0 },
    time: stageTimer({ elapsed: () => 0 }),
  }
  return { asked, stages }
}
const of = (height: number): readonly string[] => [`derive ${height}`, `derived ${height}`, `add ${height}`]
const fourBlocks = (): readonly LoadedBlock[] => chainOf([], [], [], []).map(block => ({ ...block, proof: LINKED }))
const signal = new AbortController().signal

test('fill: other tasks get a turn of the event loop after 5 ms', async () => {
  let [now, turns] = [0, 0]
  const others = (): void => {
    turns += 1
    next = setImmediate(others)
  }
  let next = setImmediate(others)
  const before: number[] = []
  const onAdd = (): void => {
    before.push(turns)
    now += 3
  }
  const { stages } = noting({ onAdd })
  const blocks = segmentsOf([1, 7]).flat()
  await fill({ ...stages, clock: { elapsed: () => now } }, streamOf(blocks), { lib: 9, signal })
  clearImmediate(next)
  // Each block takes 3 ms here, so a turn follows every second one.
  expect(before).toEqual([0, 0, 1, 1, 2, 2, 3, 3])
})

test('fill: each block is derived, noted as proved and added; the load ends before a segment that is not accepted, reads no more blocks, and throws the reason', async () => {
  const { asked, stages } = noting({ refused: 2 })
  let given = 0
  const source = (async function* () {
    for (const block of fourBlocks()) {
      given++
      yield block
    }
  })()
  expect(await fill(stages, source, { lib: 9, signal }).catch(String)).toBe('Error: refused')
  expect(asked).toEqual([...of(0), ...of(1), 'end'])
  expect(given).toBe(3)
})

test('fill: an abort ends the load after the current segment, and derived blocks are committed', async () => {
  const stop = new AbortController()
  const { asked, stages } = noting({ onAdd: () => stop.abort() })
  await fill(stages, streamOf(fourBlocks()), { lib: 9, signal: stop.signal })
  expect(asked).toEqual([...of(0), 'end'])
})

test('stageTimer: all time counts for the current stage, also while it lasts, and pauses between loads do not count', () => {
  let now = 3
  const time = stageTimer({ elapsed: () => now })
  for (const [stage, ms] of [
    ['node', 5],
    ['deriving', 20],
    ['store', 7],
  ] as const) {
    time.on(stage)
    now += ms
  }
  expect(time.spent).toEqual({ node: 5, deriving: 20, store: 7 })
  now += 1
  expect(time.spent).toEqual({ node: 5, deriving: 20, store: 8 })
  time.on(undefined)
  now += 1_000
  time.on('node')
  now += 1
  expect(time.spent).toEqual({ node: 6, deriving: 20, store: 8 })
})

test('loadedHeight: a temporary failure of the store counts as nothing loaded, a permanent one is thrown', async () => {
  const published = { height: 7, hash: 'h', time: 0n, lib: 9 }
  expect(await loadedHeight({ published: async () => published })).toBe(7)
  expect(await loadedHeight({ published: async () => undefined })).toBe(-1)
  const away = new Failure('unavailable', 'away')
  expect(await loadedHeight({ published: () => Promise.reject(away) })).toBe(-1)
  const refused = new Failure('unavailable', 'refused', { retryable: false })
  expect(await loadedHeight({ published: () => Promise.reject(refused) }).catch(error => error)).toBe(refused)
})
