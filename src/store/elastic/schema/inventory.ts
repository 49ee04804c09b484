import { type Change, historyIndices, type StateIndex } from '#indices/registry.ts'
import type { Batch } from '#store/port.ts'
import type { Holding, Inventory, LastDocument } from './checkpoint-record.ts'
import type { Names } from './names.ts'
import type { Partitions } from './partitions.ts'
import { toStateId } from './state-ids.ts'

/** Counts of documents by name of index. */
export type Counts = ReadonlyMap<string, number>

/** Names of the indices of documents, with all partitions. */
export const countedNames = (names: Names, partitions: Partitions): readonly string[] => [
  ...partitions.flatMap((_, partition) => historyIndices.map(index => names.partition(index, partition))),
  ...names.states,
]

/**
 * All indices of an inventory: documents, checkpoint, and API keys, which are not counted because they belong to no batch. Indices under construction have no keys of their own.
 */
export const listedNames = (names: Names, partitions: Partitions): readonly string[] => [
  ...countedNames(names, partitions),
  names.behind('meta'),
  ...(names.building ? [] : [names.behind('keys')]),
]

/** Number of documents that a batch adds to each index of its partition. */
export type Added = { readonly [I in (typeof historyIndices)[number]['name']]: number }

export const addedBy = ({ blocks, transactions, records }: Pick<Batch, keyof Added>): Added => ({
  blocks: blocks.length,
  transactions: transactions.length,
  records: records.length,
})

export const sumOf = (a: Added, b: Added): Added => ({
  blocks: a.blocks + b.blocks,
  transactions: a.transactions + b.transactions,
  records: a.records + b.records,
})

/** Ids of the last documents of each kind; absent: none was added. */
export type LastIds = { readonly [I in keyof Added]?: string }

export const lastIdsOf = (history: Pick<Batch, keyof Added>): LastIds =>
  Object.fromEntries(
    historyIndices.flatMap(({ name }) => {
      const last = history[name].at(-1)
      return last === undefined ? [] : [[name, last.id]]
    }),
  )

/** The inventory after a batch; `uuids`: those of a partition that it opens, `version`: that of its state. */
export const inventoryAfter = (
  before: Inventory,
  names: Names,
  {
    name,
    partition,
    added,
    lastIds,
    changes,
    version,
    uuids,
  }: {
    readonly name: string
    readonly partition: number
    readonly added: Added
    readonly lastIds: LastIds
    readonly changes: readonly Change[]
    readonly version: number
    readonly uuids: ReadonlyMap<string, string>
  },
): Inventory => {
  const indices: Record<string, Holding> = { ...before.indices }
  for (const [index, uuid] of uuids) indices[index] = [uuid, 0]
  const add = (index: string, more: number): void => {
    const [uuid = '', documents = 0] = indices[index] ?? []
    indices[index] = [uuid, documents + more]
  }
  for (const index of historyIndices) add(names.partition(index, partition), added[index.name])
  const made = new Map<StateIndex, number>()
  for (const { index, before: was } of changes) if (was === undefined) made.set(index, (made.get(index) ?? 0) + 1)
  for (const [index, more] of made) add(names.state(index), more)
  if (before.last === undefined) return { batch: name, indices }
  const last: Record<string, LastDocument> = { ...before.last }
  for (const index of historyIndices) {
    const id = lastIds[index.name]
    if (id !== undefined) last[names.partition(index, partition)] = [id, 1]
  }
  // The changes are written in this order, so the last one counts.
  for (const { index, doc } of changes) last[names.state(index)] = [toStateId(index, doc.id), version]
  return { batch: name, indices, last }
}
