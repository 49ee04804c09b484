import { BLOCKED, type ElasticError, isTransient, MISSING_INDEX } from './failures.ts'

/** A document by its id and its index or an alias of the index. */
export type Ref = { readonly index: string; readonly id: string }

/** The write that last changed a document, for compare-and-set. */
export type SeqNo = { readonly seqNo: number; readonly primaryTerm: number }

/** One action of a bulk request, ready to send. */
export type BulkItem = {
  readonly action: 'create' | 'index' | 'delete'
  readonly index: string
  readonly id: string
  /** Text of the document; undefined for `delete`. */
  readonly source?: string
  /** Whether the item replaces only the version that was read. */
  readonly seen?: true
  /** The lines of the action as they are sent, each ended by a line feed. */
  readonly lines: string
  /** Length of `lines` in UTF-8. */
  readonly bytes: number
}

/** Elasticsearch's answer to one item. */
export type ItemAnswer = {
  readonly status: number
  readonly error?: ElasticError
  /** Whether the write is searchable in every copy. */
  readonly forced_refresh?: boolean
}

const item = (
  action: BulkItem['action'],
  { index, id }: Ref,
  /** `meta`: further members of the action, each after a comma. */
  { meta = '', source }: { readonly meta?: string; readonly source?: string | undefined } = {},
): BulkItem => {
  // Concatenated instead of serialized, for speed: one item per document.
  const head = `{"${action}":{"_index":${JSON.stringify(index)},"_id":${JSON.stringify(id)}${meta}}}`
  const lines = source === undefined ? `${head}\n` : `${head}\n${source}\n`
  const bytes = Buffer.byteLength(lines)
  return { action, index, id, lines, bytes, ...(source === undefined ? {} : { source }) }
}

/** Writes a document that must not exist yet. */
export const createItem = (index: string, id: string, source: string): BulkItem =>
  item('create', { index, id }, { source })

/** Writes a document unless a higher version is stored; the same version is written again. */
export const versionedItem = (ref: Ref, version: number, source: string): BulkItem =>
  item('index', ref, { meta: `,"version":${version},"version_type":"external_gte"`, source })

/** Writes a document unconditionally. */
export const indexItem = (index: string, id: string, source: string): BulkItem =>
  item('index', { index, id }, { source })

/** Overwrites the version that was read; refused if the document was written or deleted since. */
export const rewriteSeenItem = (
  { index, id, source }: Pick<BulkItem, 'index' | 'id' | 'source'>,
  seen: SeqNo,
): BulkItem => ({ ...item('index', { index, id }, { meta: ifSeen(seen), source }), seen: true })

/** Deletes the version that was read; a document written since stays. */
export const deleteSeenItem = (ref: Ref, seen: SeqNo): BulkItem => item('delete', ref, { meta: ifSeen(seen) })

const ifSeen = ({ seqNo, primaryTerm }: SeqNo): string => `,"if_seq_no":${seqNo},"if_primary_term":${primaryTerm}`

export const deleteItem = (index: string, id: string): BulkItem => item('delete', { index, id })

/** The outcome of an item according to its answer. */
export type ItemFate =
  /** Stored or deleted, or superseded by the stored document. */
  | 'done'
  /** The document already exists, or changed since it was read: the stored document must be equal. */
  | 'exists'
  /** Overload: the item is sent again later. */
  | 'again'
  /** The index accepts no writes, usually because of a full disk: the writer waits for an operator. */
  | 'blocked'
  /** Refused permanently. */
  | 'wrong'

export const fateOf = (
  { action, seen }: Pick<BulkItem, 'action' | 'seen'>,
  { status, error }: ItemAnswer,
): ItemFate => {
  if (error?.type === BLOCKED) return 'blocked'
  if (status >= 200 && status < 300) return 'done'
  // Deleting a missing document is done; a missing index is an error.
  if (status === 404 && action === 'delete' && error?.type !== MISSING_INDEX) return 'done'
  // index: a newer version is stored. delete: the document was written since it was read.
  if (status === 409) return action === 'create' || seen ? 'exists' : 'done'
  return isTransient(status) ? 'again' : 'wrong'
}

/** Maximum bytes of a bulk request; bulk loading gets no faster with more. */
export const ONE_REQUEST_BYTES = 2_000_000

/** Cuts items lazily into runs of at most `maxBytes`; a larger item is a run of its own. */
export const cut = function* <T extends { readonly bytes: number }>(
  items: Iterable<T>,
  maxBytes: number,
): Generator<readonly T[], void, void> {
  let run: T[] = []
  let room = maxBytes
  for (const each of items) {
    if (run.length > 0 && each.bytes > room) {
      yield run
      run = []
      room = maxBytes
    }
    run.push(each)
    room -= each.bytes
  }
  if (run.length > 0) yield run
}
