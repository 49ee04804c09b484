import { Failure } from '#failure/failure.ts'
import type { DocOf } from '#indices/define.ts'
import { type ListDoc, lists } from '#indices/list.ts'
import { type StateIndex, stateIndices } from '#indices/registry.ts'
import type { Audit, Rewrite, Store, StoredDocument, Writer } from '#store/port.ts'
import type { DigestOptions } from './digest.ts'
import { keepReadable } from './keep-readable.ts'
import { findListStarts } from './list-starts.ts'

/** Documents per write. */
const AT_ONCE = 5_000

/** Number of pages of the source that take some minutes at most. */
const PAGES = 300

type Between = {
  readonly source: Audit
  readonly from: Pick<Store, 'read'>
  readonly to: Pick<Store, 'partitions'>
  readonly writer: Pick<Writer, 'rewrite'>
}

/** Copies all state documents; documents that exist already are overwritten. */
export async function copyState(
  { source, from, to, writer }: Between,
  { signal, onProgress }: DigestOptions,
): Promise<void> {
  let pages = 0
  const firsts = (await to.partitions?.firsts()) ?? [0]
  for (const index of stateIndices) {
    let put: Rewrite['put'][number][] = []
    let done = 0
    const write = async (): Promise<void> => {
      if (put.length > 0) await writer.rewrite({ put, remove: [], unplace: [] })
      done += put.length
      put = []
      onProgress({ stage: index.name, done })
    }
    for await (const page of source.scan(index)) {
      signal.throwIfAborted()
      pages += 1
      if (pages % PAGES === 0) await keepReadable(source)
      for (const found of page) put.push({ index, doc: await placeDocument(firsts, { from, index, found }) })
      if (put.length >= AT_ONCE) await write()
    }
    await write()
  }
}

/** The document for a store with these partitions. */
async function placeDocument(
  firsts: readonly number[],
  { from, index, found }: Pick<Between, 'from'> & { readonly index: StateIndex; readonly found: StoredDocument },
): Promise<DocOf<StateIndex>> {
  const { id, doc } = found
  if (doc === undefined)
    throw new Failure('damaged', `${index.name}: ${id} cannot be read.`, {
      help: "Run: 'iostlens repair --node URL'.",
      details: { index: index.name },
    })
  if (index !== lists) return doc as DocOf<StateIndex>
  const list = doc as ListDoc
  const momentsOf = (ordinals: readonly number[]) => from.read(view => view.moments(list, ordinals), { damaged: true })
  return { ...list, starts: await findListStarts(firsts, list, momentsOf) } as DocOf<StateIndex>
}
