import type { LoadedBlock } from '#chain/block.ts'
import { applies } from '#chain/effects.ts'
import { type BlockDocuments, type BlockPlan, deriveBlock } from '#derive/derive-block.ts'
import { withChanges } from '#derive/rankings.ts'
import { type WorkingState, workingState } from '#derive/working-state.ts'
import { balances } from '#indices/balance.ts'
import type { DocOf } from '#indices/define.ts'
import type { StateChange, StateIndex } from '#indices/registry.ts'
import { recordedBlocks } from '../nodes/recording.ts'

type Doc = StateChange['doc']

type StoredState = {
  get<I extends StateIndex>(index: I, id: string): DocOf<I> | undefined
  all<I extends StateIndex>(index: I): readonly DocOf<I>[]
}

export type DerivedChain = {
  readonly state: StoredState
  readonly documents: readonly BlockDocuments[]
}

let recorded: Promise<DerivedChain> | undefined

export function derivedRecording(): Promise<DerivedChain> {
  recorded ??= recordedBlocks().then(blocks => deriveChain(blocks))
  return recorded
}

const storedState = (stored: ReadonlyMap<string, ReadonlyMap<string, Doc>>): StoredState => ({
  get: <I extends StateIndex>(index: I, id: string) => stored.get(index.name)?.get(id) as DocOf<I> | undefined,
  all: <I extends StateIndex>(index: I) =>
    [...(stored.get(index.name)?.values() ?? [])] as unknown as readonly DocOf<I>[],
})

const publisherIn = (blocks: readonly LoadedBlock[], hash: string): string | undefined =>
  blocks.flatMap(({ block }) => block.transactions).find(tx => tx.hash === hash && applies(tx))?.publisher

type HowDerived = {
  readonly sizeOf?: (batch: number) => number
  readonly derive?: (...of: [LoadedBlock, WorkingState, BlockPlan]) => BlockDocuments
}

/** Derives blocks in batches, as a loader does, with an in-memory store. */
export function deriveChain(
  blocks: readonly LoadedBlock[],
  { sizeOf = () => 500, derive = deriveBlock }: HowDerived = {},
): DerivedChain {
  const stored = new Map<string, Map<string, Doc>>()
  const documents: BlockDocuments[] = []
  const pending = new Map<string, bigint>()
  for (let from = 0, batch = 0; from < blocks.length; batch += 1) {
    const run = blocks.slice(from, from + sizeOf(batch))
    from += run.length
    const state = workingState(
      (index, id) => stored.get(index.name)?.get(id),
      range => withChanges(range, [], stored.get(range.index.name)?.values() ?? []).values(),
      hash => publisherIn(blocks.slice(0, documents.length), hash),
    )
    for (const loaded of run) {
      const due = [...pending].filter(([, at]) => at <= loaded.block.time).map(([id]) => id)
      state.mark()
      documents.push(derive(loaded, state, { due, partition: 0 }))
      for (const { id, next_due } of state.changedSinceMark(balances))
        if (next_due === undefined) pending.delete(id)
        else pending.set(id, next_due)
    }
    for (const { index, doc } of state.changes()) {
      const docs = stored.get(index.name) ?? new Map<string, Doc>()
      stored.set(index.name, docs.set(doc.id, doc))
    }
  }
  return { documents, state: storedState(stored) }
}
