import { beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { LoadedBlock } from '#chain/block.ts'
import { type StateIndex, stateIndices } from '#indices/registry.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { type DerivedChain, deriveChain } from '#test/support/stores/derived-chain.ts'

/** The first 500 blocks with any content follow 700 nearly empty ones. */
const BLOCKS = 1_200
const MS = 600_000

let blocks: readonly LoadedBlock[]
let whole: DerivedChain

beforeAll(async () => {
  blocks = (await recordedBlocks()).slice(0, BLOCKS)
  whole = deriveChain(blocks, { sizeOf: () => BLOCKS })
}, MS)

const stateOf = ({ state }: DerivedChain) =>
  stateIndices.map((index: StateIndex) => [index.name, new Map(state.all(index).map(doc => [doc.id, doc]))] as const)

test(
  'deriveBlock: any split into batches, with state read again between them, gives the same documents',
  () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 }), sizes => {
        const split = deriveChain(blocks, { sizeOf: batch => sizes[batch % sizes.length] ?? 1 })
        expect(split.documents).toEqual(whole.documents)
        expect(stateOf(split)).toEqual(stateOf(whole))
      }),
      { numRuns: SOAK ? 20 : 2, examples: [[[1]]] },
    )
  },
  MS,
)
