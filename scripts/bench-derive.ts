import type { LoadedBlock } from '#chain/block.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'

/** How fast blocks become documents on one core, with `needsOf` and without any store: `bun scripts/bench-derive.ts`. */
const BATCH = 500
const RUNS = 3

/** Blocks that end before the recording's first transactions, and all of it. */
const blocks = await recordedBlocks()
const firstBusy = blocks.findIndex(({ block }) => block.height > 0 && block.transactions.length > 1)

/** Derivation keeps parsed receipts by object: every run gets new ones. */
const fresh = (run: readonly LoadedBlock[]): readonly LoadedBlock[] => structuredClone(run)

const measure = (name: string, run: readonly LoadedBlock[]): void => {
  for (let count = 0; count < RUNS; count += 1) {
    const input = fresh(run)
    const start = performance.now()
    const { documents, retries } = deriveChain(input, () => BATCH)
    const seconds = (performance.now() - start) / 1000
    const records = documents.reduce((sum, each) => sum + each.records.length, 0)
    const perSecond = (amount: number): string => Math.round(amount / seconds).toLocaleString('en')
    console.log(
      `${name}: ${perSecond(run.length)} blocks/s, ${perSecond(records)} records/s, ${retries} of ${run.length} blocks begun anew`,
    )
  }
}

const [genesis] = blocks
const empty = blocks.slice(1, firstBusy)
// Near-empty blocks over and over: derivation does not ask whether heights follow, but positions must differ.
const many = Array.from({ length: 20 }, (_, round) =>
  empty.map(({ block, ...loaded }, at) => ({
    ...loaded,
    block: { ...block, height: 1 + round * empty.length + at },
  })),
).flat()
if (genesis !== undefined) measure('near-empty', [genesis, ...many])
measure('recording', blocks)
