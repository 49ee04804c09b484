import type { AnyIndex } from '#indices/registry.ts'
import type { Hints } from '#store/ranking-start.ts'
import type { Ref } from '../client/bulk-item.ts'
import type { Connection } from '../client/connection.ts'
import { AT_ONCE, type Got, getMany } from '../client/get-many.ts'
import type { LastDocuments, PublishedMeta } from '../schema/checkpoint-record.ts'
import type { Names } from '../schema/names.ts'
import { OutOfDateCopy } from './out-of-date.ts'

/** The source of documents, and the documents that a copy of each index must show. */
export type ProofContext = {
  readonly connection: Connection
  readonly last: LastDocuments
  readonly signal?: AbortSignal | undefined
}

/** A state document of the requested index. */
type Doc = { readonly id: string }

type IndexName = Pick<AnyIndex, 'name'>

/** Cached state documents; `value` undefined: no document has that id. */
export type DocumentCache = {
  get(index: IndexName, id: string): { readonly value: Doc | undefined } | undefined
  /** `characters`: the size of the document's text. */
  put(index: IndexName, id: string, read: { readonly doc: Doc | undefined; readonly characters: number }): void
}

/** The means of a view to read. */
export type Reader = ProofContext & {
  readonly names: Names
  /** The index of records of each partition. */
  readonly recordIndices: readonly string[]
  readonly published: PublishedMeta
  /** Hints for rankings, shared by all views. */
  readonly hints: Hints
  /** Cached state of the published batch. */
  readonly cache: DocumentCache
  /** Called when a read misses a document that may have been lost. */
  readonly onNothing: () => void
  /** Reads by id in this turn of the event loop, which share one request. */
  readonly pendingReads: PendingRead[]
}

/** A read by id that waits for the request it is part of. */
export type PendingRead = PromiseWithResolvers<readonly (Got | undefined)[]> & {
  readonly refs: readonly Ref[]
}

/** Like `provedDocs`; all reads in one turn of the event loop share one request. */
export const batchedDocs = (
  reader: ProofContext & Pick<Reader, 'pendingReads'>,
  refs: readonly Ref[],
): Promise<readonly (Got | undefined)[]> => {
  const asked = { refs, ...Promise.withResolvers<readonly (Got | undefined)[]>() }
  if (reader.pendingReads.length === 0) queueMicrotask(() => void send(reader))
  reader.pendingReads.push(asked)
  return asked.promise
}

const send = async (reader: ProofContext & Pick<Reader, 'pendingReads'>): Promise<void> => {
  const together = reader.pendingReads.splice(0)
  try {
    const [first] = together
    const refs = together.length === 1 && first ? first.refs : together.flatMap(each => each.refs)
    const found = await provedDocs(reader, refs)
    let from = 0
    for (const { refs, resolve } of together) {
      resolve(found.slice(from, from + refs.length))
      from += refs.length
    }
  } catch (error) {
    for (const { reject } of together) reject(error)
  }
}

/**
 * Documents by id in the version that a search sees, each from a copy that is complete for its index. The
 * last document of an index is read before the others in the same request, which one copy carries out in
 * order. Throws `OutOfDateCopy` otherwise.
 */
export const provedDocs = async (
  { connection, last, signal }: ProofContext,
  refs: readonly Ref[],
): Promise<readonly (Got | undefined)[]> => {
  const found: (Got | undefined)[] = []
  while (found.length < refs.length) {
    const { proofs, part } = nextPart(refs, found.length, last)
    const got = await getMany(connection, [...proofs, ...part], { realtime: false, signal })
    for (const [at, { index, version }] of proofs.entries())
      if ((got[at]?.version ?? -1) < version) throw new OutOfDateCopy(connection, index)
    found.push(...got.slice(proofs.length))
  }
  return found
}

type Proof = Ref & { readonly version: number }

/**
 * The documents from `from` on that fit one request, together with the documents that prove their indices'
 * copies current.
 */
const nextPart = (
  refs: readonly Ref[],
  from: number,
  last: LastDocuments,
): { readonly proofs: readonly Proof[]; readonly part: readonly Ref[] } => {
  const proofs = new Map<string, Proof>()
  let to = from
  for (; to < refs.length; to++) {
    const { index } = refs[to] as Ref
    const [id, version = 0] = proofs.has(index) ? [] : (last[index] ?? [])
    if (to - from + proofs.size + (id === undefined ? 1 : 2) > AT_ONCE) break
    if (id !== undefined) proofs.set(index, { index, id, version })
  }
  return { proofs: [...proofs.values()], part: refs.slice(from, to) }
}
