import { BLOCKED, type ElasticError, isPassing, MISSING_INDEX } from './failures.ts'

/** A document by its index, or an alias of that, and its id. */
export type Ref = { readonly index: string; readonly id: string }

/** Which write of a document was seen, for compare-and-set. */
export type SeqNo = { readonly seqNo: number; readonly primaryTerm: number }

/** One action of a bulk request, ready to send. */
export type BulkItem = {
  readonly action: 'create' | 'index' | 'delete'
  readonly index: string
  readonly id: string
  /** Text of the document; undefined for `delete`. */
  readonly source?: string
  /** Replaces a document only as it was seen. */
  readonly seen?: true
  /** The action's lines as they are sent, each ended by a line feed. */
  readonly lines: string
  /** Length of `lines` in UTF-8. */
  readonly bytes: number
}

/** How Elasticsearch answers one item. */
export type ItemAnswer = { readonly status: number; readonly error?: ElasticError }

const item = (
  action: BulkItem['action'],
  { index, id }: Ref,
  /** `meta`: further members of the action, each behind a comma. */
  { meta = '', source }: { readonly meta?: string; readonly source?: string | undefined } = {},
): BulkItem => {
  // Put together by hand: there is one for every document.
  const head = `{"${action}":{"_index":${JSON.stringify(index)},"_id":${JSON.stringify(id)}${meta}}}`
  const lines = source === undefined ? `${head}\n` : `${head}\n${source}\n`
  const bytes = Buffer.byteLength(lines)
  return { action, index, id, lines, bytes, ...(source === undefined ? {} : { source }) }
}

/** Writes a document that must not exist yet. */
export const createItem = (index: string, id: string, source: string): BulkItem =>
  item('create', { index, id }, { source })

/** Writes a document unless one of a higher version is there; the same version is written again. */
export const versionedItem = (ref: Ref, version: number, source: string): BulkItem =>
  item('index', ref, { meta: `,"version":${version},"version_type":"external_gte"`, source })

/** Writes a document whatever is there. */
export const indexItem = (index: string, id: string, source: string): BulkItem =>
  item('index', { index, id }, { source })

/** Writes a document over the one that was seen; refused when that one was written anew or is gone since then. */
export const rewriteSeenItem = (
  { index, id, source }: Pick<BulkItem, 'index' | 'id' | 'source'>,
  seen: SeqNo,
): BulkItem => ({ ...item('index', { index, id }, { meta: ifSeen(seen), source }), seen: true })

/** Deletes a document as it was seen: one written anew since then stays. */
export const deleteSeenItem = (ref: Ref, seen: SeqNo): BulkItem => item('delete', ref, { meta: ifSeen(seen) })

const ifSeen = ({ seqNo, primaryTerm }: SeqNo): string =>
  `,"if_seq_no":${seqNo},"if_primary_term":${primaryTerm}`

export const deleteItem = (index: string, id: string): BulkItem => item('delete', { index, id })

/** What becomes of an item after an answer. */
export type ItemFate =
  /** Stored or deleted, or what is there makes it needless. */
  | 'done'
  /** A document is there already, or no more as it was seen: what is there must be the same. */
  | 'exists'
  /** Overload: send again later. */
  | 'again'
  /** The index takes no writes, mostly for a full disk: wait until somebody helps. */
  | 'blocked'
  /** Refused for good. */
  | 'wrong'

export const fateOf = (
  { action, seen }: Pick<BulkItem, 'action' | 'seen'>,
  { status, error }: ItemAnswer,
): ItemFate => {
  if (error?.type === BLOCKED) return 'blocked'
  if (status >= 200 && status < 300) return 'done'
  // A delete of what is not there is done; a missing index is no such thing.
  if (status === 404 && action === 'delete' && error?.type !== MISSING_INDEX) return 'done'
  // index: a newer version is there. delete: written anew since it was seen.
  if (status === 409) return action === 'create' || seen ? 'exists' : 'done'
  return isPassing(status) ? 'again' : 'wrong'
}

/** Cuts items into runs of at most `maxBytes`, one after the other as they are asked for; a larger item stands alone. */
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
