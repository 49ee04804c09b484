import { transactionDocuments } from '#derive/derive-block.ts'
import { headRows, listNeededKeys } from '#derive/head-rows.ts'
import { MissingState } from '#derive/state.ts'
import { UNKNOWN, workingState } from '#derive/working-state.ts'
import type { Key, StateChange, StateIndex } from '#indices/registry.ts'
import { signers } from '#load/proving.ts'
import type { View } from '#store/port.ts'
import type { Fetched } from './fetch-branch.ts'
import type { HeadBlock } from './head-state.ts'

type Doc = StateChange['doc']

/**
 * A derived block: its rows, and the changes of state on which later blocks depend. Both follow only from the
 * chain up to that block.
 */
export type Derived = { readonly head: HeadBlock; readonly changes: readonly StateChange[] }

/** State above a published height: the changes of the blocks above it, then the stored state. */
type Overlay = {
  read(keys: readonly Key[]): Promise<readonly (Doc | undefined)[]>
  known(index: StateIndex, id: string): Doc | undefined | typeof UNKNOWN
  put(changes: readonly StateChange[]): void
}

function createOverlay(view: View): Overlay {
  const docs = new Map<string, Doc | undefined>()
  const nameOf = (index: StateIndex, id: string): string => `${index.name} ${id}`
  const known: Overlay['known'] = (index, id) => (docs.has(nameOf(index, id)) ? docs.get(nameOf(index, id)) : UNKNOWN)
  const fetch = async (keys: readonly Key[]): Promise<void> => {
    const wanted = new Map<StateIndex, Set<string>>()
    for (const { index, id } of keys) {
      if (docs.has(nameOf(index, id))) continue
      const ids = wanted.get(index) ?? new Set()
      wanted.set(index, ids.add(id))
    }
    for (const [index, ids] of wanted) {
      const found = await view.getMany(index, [...ids])
      for (const [at, id] of [...ids].entries()) docs.set(nameOf(index, id), found[at] as Doc | undefined)
    }
  }
  return {
    known,
    read: async keys => {
      await fetch(keys)
      return keys.map(({ index, id }) => docs.get(nameOf(index, id)))
    },
    put: changes => {
      for (const { index, doc } of changes) docs.set(nameOf(index, doc.id), doc)
    },
  }
}

/**
 * Derives consecutive blocks that begin right above a published height; `known` contains those derived before. The
 * signing key of a block must belong to a producer in the state at the published height: a key registered since then
 * signs nothing before its election is irreversible. Throws Failure 'bad_block' for a block signed by another key.
 */
export async function deriveHead(
  view: View,
  blocks: readonly Fetched[],
  known: Pick<ReadonlyMap<string, Derived>, 'get'>,
): Promise<readonly Derived[]> {
  const overlay = createOverlay(view)
  const { proved, height } = view.at
  const keys = signers({ read: overlay.read, changedKeys: () => [] }, { known: proved?.formerKeys, from: height })
  const unsigned = new Map<string, string>()
  for (const fetched of blocks)
    if (fetched.signedBy !== undefined && known.get(fetched.hash) === undefined)
      unsigned.set(fetched.signedBy, fetched.hash)
  for (const { block, signedBy, hash } of blocks)
    if (signedBy !== undefined && unsigned.get(signedBy) === hash)
      await keys.check([{ block, systemCode: [], proof: { level: 'signed', signedBy } }])
  const all: Derived[] = []
  for (const { block, hash } of blocks) {
    const derived = known.get(hash) ?? (await deriveOne(overlay, block))
    overlay.put(derived.changes)
    all.push(derived)
  }
  return all
}

async function deriveOne(overlay: Overlay, block: Fetched['block']): Promise<Derived> {
  await overlay.read(listNeededKeys(block))
  for (;;) {
    const state = workingState(overlay.known)
    try {
      const { doc, rows } = headRows(block, state)
      const bodies = block.transactions.map(({ body }) => body)
      const transactions = transactionDocuments(block)
      return { head: { doc, rows, transactions, bodies }, changes: state.changes() }
    } catch (error) {
      if (!(error instanceof MissingState)) throw error
      await overlay.read(error.keys)
    }
  }
}
