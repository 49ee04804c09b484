import { Failure } from '#failure/failure.ts'
import type { Field } from '#indices/define.ts'
import { type ListDoc, lists, parsePosition } from '#indices/list.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import { ONE_PARTITION } from '#store/batch.ts'
import type { KeyStore } from '#store/keys-port.ts'
import type { Audit, Store, StoredDocument } from '#store/port.ts'

/** Texts are prefixed with their length, so that no two documents have the same canonical text. */
const addLength = (text: string): string => `${text.length}:${text}`

const formatText = (value: unknown): string => addLength(value as string)
const formatNumber = (value: unknown): string => `${value};`

const TEXTS: Readonly<Record<Field['kind'], (value: unknown) => string>> = {
  keyword: formatText,
  text: formatText,
  hash: formatText,
  hashes: formatText,
  word: formatText,
  packed: formatText,
  digits: formatText,
  long: formatNumber,
  int: formatNumber,
  hash8: formatNumber,
  bool: formatNumber,
  json: value => addLength(JSON.stringify(value)),
  places: value => addLength((value as readonly bigint[]).join()),
}

/** The fields of each index, with the functions that turn their values into text. */
const known = new WeakMap<AnyIndex, readonly (readonly [name: string, format: (value: unknown) => string])[]>()

/**
 * The canonical text of a document: the same in every store, and different for any other document. It consists of the
 * id and the fields in the order of the index. `~`, with which no value begins, marks an absent field.
 */
export function canonicalText(index: AnyIndex, doc: { readonly id: string }): string {
  let parts = known.get(index)
  if (parts === undefined) {
    parts = Object.entries<Field>(index.fields)
      // These depend on how a store partitions its history, not on the chain alone.
      .filter(([name]) => index !== lists || name !== 'starts')
      .map(([name, { kind }]) => [name, TEXTS[kind]])
    known.set(index, parts)
  }
  const values = doc as unknown as Readonly<Record<string, unknown>>
  let text = addLength(doc.id)
  for (const [name, format] of parts) {
    const value = values[name]
    text += value === undefined ? '~' : format(value)
  }
  return text
}

/** Reads from each index: Elasticsearch closes a point in time that nobody has used for half an hour. */
export async function keepReadable(audit: Pick<Audit, 'existing'>): Promise<void> {
  for (const index of [...historyIndices, ...stateIndices] as readonly AnyIndex[]) await audit.existing(index, ['-'])
}

/** Number of 32-bit words in a SHA-256. */
const WORDS = 8
/** Number of additions after which a word, stored as a double, might no longer be exact. */
const EXACT = 2 ** 20

/** The number of texts, and the sum of their SHA-256 modulo 2^256 in hexadecimal. */
type DocumentSum = { readonly documents: number; readonly sum: string }

/**
 * Sums the SHA-256 of texts: the same texts give the same sum in any order. A missing, changed or repeated
 * text changes the sum (exclusive or would miss pairs of equal texts). The sum detects damage. It does not
 * resist an attacker who can choose millions of texts, but such an attacker could write the store anyway.
 */
export class DigestSum {
  private readonly bytes = new Uint8Array(WORDS * 4)
  private readonly words = new DataView(this.bytes.buffer)
  private readonly sums = new Float64Array(WORDS)
  private documents = 0

  add(text: string): void {
    Bun.SHA256.hash(text, this.bytes)
    for (let at = 0; at < WORDS; at++) this.sums[at] = (this.sums[at] ?? 0) + this.words.getUint32(at * 4)
    this.documents += 1
    if (this.documents % EXACT === 0) this.carry()
  }

  result(): DocumentSum {
    this.carry()
    const sum = [...this.sums].map(word => word.toString(16).padStart(8, '0')).join('')
    return { documents: this.documents, sum }
  }

  /** Reduces each word below 2^32; the carry of the first word is dropped. */
  private carry(): void {
    let over = 0
    for (let at = WORDS - 1; at >= 0; at--) {
      const word = (this.sums[at] ?? 0) + over
      over = Math.floor(word / 2 ** 32)
      this.sums[at] = word - over * 2 ** 32
    }
  }
}

export const isSha256 = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)

/** The sum over several sums. */
export const sumOfSums = (sums: readonly DocumentSum[]): DocumentSum => ({
  documents: sums.reduce((all, { documents }) => all + documents, 0),
  sum: BigInt.asUintN(
    256,
    sums.reduce((all, { sum }) => all + BigInt(`0x${sum}`), 0n),
  )
    .toString(16)
    .padStart(WORDS * 8, '0'),
})

/** The digest of an index, or of one partition of a history index; the order of its documents does not matter. */
export type Digest = DocumentSum & {
  readonly index: string
  /** Number of the partition, in history indices. */
  readonly partition?: number
  /**
   * Sequence number of its last operation, on a server that counts operations: as long as it stays, the index
   * is unchanged.
   */
  readonly operation?: number
}

/**
 * The number of documents in all indices. `lists.starts` and `api.keys` are left out: they count parts of
 * documents, and keys.
 */
export const sumDocuments = (digests: readonly Digest[]): number =>
  digests.reduce((all, { index, documents }) => all + (index.includes('.') ? 0 : documents), 0)

/**
 * Name of the digest of the list starts in partitions: the only part of a document that depends on how a
 * store is partitioned.
 */
export const STARTS = 'lists.starts'

/** Number of pages of an audit, of a thousand documents each, that take some minutes at most. */
const PAGES = 1_000

export type DigestOptions = {
  readonly signal: AbortSignal
  readonly onProgress: (at: { readonly stage: string; readonly done: number; readonly of?: number | undefined }) => void
}

/**
 * The digests of each index and partition in an audit. Reads every document once; memory use does not depend
 * on their number. Throws when `signal` aborts.
 */
export async function computeDigests(
  { partitions }: Pick<Store, 'partitions'>,
  audit: Audit,
  { signal, onProgress }: DigestOptions,
): Promise<readonly Digest[]> {
  const firsts = (await partitions?.firsts()) ?? ONE_PARTITION
  const counts = await readExpectedCounts(audit)
  const digests: Digest[] = []
  let pages = 0
  for (const index of [...historyIndices, ...stateIndices]) {
    const sums = createIndexSums(index, firsts)
    const of = counts.get(index)
    let done = 0
    for await (const page of readIndexPages(audit, index)) {
      signal.throwIfAborted()
      for (const found of page) sums.add(found)
      done += page.length
      pages += 1
      if (pages % PAGES === 0) await keepReadable(audit)
      onProgress({ stage: index.name, done, of })
    }
    digests.push(...sums.digests(audit.at.height))
  }
  return digests
}

/** All documents of an index. A failure of reading is thrown with the name of the index. */
const readIndexPages = async function* (audit: Audit, index: AnyIndex): AsyncGenerator<readonly StoredDocument[]> {
  try {
    yield* audit.scan(index)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { kind, message, help } = error
    throw new Failure(kind, `${index.name}: ${message}`, { cause: error, details: { index: index.name }, help })
  }
}

/** The numbers of documents that follow from the chain, for the indices where they do. */
async function readExpectedCounts(audit: Audit): Promise<ReadonlyMap<AnyIndex, number>> {
  const [counted] = (await audit.getMany(statistics, [STATISTICS])) as readonly (StatisticsDoc | undefined)[]
  const [blocks, transactions, records] = historyIndices
  return new Map<AnyIndex, number>([
    [blocks, audit.at.height + 1],
    ...(counted === undefined
      ? []
      : ([
          [transactions, counted.transaction_count],
          [records, counted.record_count],
          [lists, counted.list_count],
        ] as const)),
  ])
}

/** The sums of one index, by partition. */
function createIndexSums(index: AnyIndex, firsts: readonly number[]) {
  const parts = firsts.map(() => new DigestSum())
  const [starts, outside] = [new DigestSum(), new DigestSum()]
  /** The sum of the partition that should have a document; all state is in the first one. */
  const findPart = (id: string): DigestSum | undefined => {
    const [height = 0] = index.kind === 'state' ? [] : (parsePosition(id) ?? [])
    const partition = firsts.findLastIndex(first => first <= height)
    return parts[Math.max(0, partition)]
  }
  return {
    add: ({ id, doc, stray }: StoredDocument): void => {
      const sum = stray === undefined ? findPart(id) : outside
      // A document that cannot be read has no text, but is counted.
      sum?.add(doc === undefined ? `unreadable ${id}` : canonicalText(index, doc))
      if (index === lists && doc !== undefined) starts.add(`${id} ${JSON.stringify((doc as ListDoc).starts)}`)
    },
    digests: (height: number): readonly Digest[] => {
      const results = parts.map(part => part.result())
      const of = { index: index.name }
      if (index.kind === 'state')
        return [
          ...results.slice(0, 1).map(result => ({ ...of, ...result })),
          ...(index === lists ? [{ index: STARTS, ...starts.result() }] : []),
        ]
      const stray = outside.result()
      return [
        ...results
          .map((result, partition) => ({ ...of, partition, ...result }))
          .filter(({ partition }) => partition === 0 || (firsts[partition] ?? 0) <= height),
        ...(stray.documents === 0 ? [] : [{ index: `${index.name} in wrong partitions`, ...stray }]),
      ]
    },
  }
}

/**
 * Throws 'damaged', naming the index, unless all digests are the same. `what` names the store or file with
 * the digests `found`; the message begins with it.
 */
export function requireSameDigests(what: string, found: readonly Digest[], expected: readonly Digest[]): void {
  const [has, wanted] = [mapByName(found), mapByName(expected)]
  const [name, ...others] = [...new Set([...wanted.keys(), ...has.keys()])].filter(
    each => has.get(each)?.documents !== wanted.get(each)?.documents || has.get(each)?.sum !== wanted.get(each)?.sum,
  )
  if (name === undefined) return
  const [one, other] = [has.get(name), wanted.get(name)]
  const difference =
    one?.documents === other?.documents
      ? `has the digest ${one?.sum}, expected ${other?.sum}`
      : `has ${one?.documents ?? 0} documents, expected ${other?.documents ?? 0}`
  const more = others.length === 0 ? '' : `; ${others.length} more indices differ`
  throw new Failure('damaged', `${what}: ${name} ${difference}${more}.`, {
    help: 'Take another copy. Or load the chain anew from a node or an archive.',
    details: { index: name },
  })
}

const mapByName = (digests: readonly Digest[]): ReadonlyMap<string, Digest> =>
  new Map(
    digests.map(digest => {
      const { index, partition } = digest
      return [partition === undefined ? index : `${index} (partition ${partition})`, digest]
    }),
  )

/** Digests of whole indices, without the entries that depend on partitions: equal in all stores of the same blocks. */
export function mergePartitionDigests(digests: readonly Digest[]): readonly Digest[] {
  const byIndex = Map.groupBy(
    digests.filter(({ index }) => index !== STARTS),
    ({ index }) => index,
  )
  return [...byIndex].map(([index, parts]) => ({ index, ...sumOfSums(parts) }))
}

/** Name of the digest of the API keys. They are not documents of the chain: each store has its own. */
export const KEYS = 'api.keys'

/** The digest of all keys of a store, over all stored fields of each. */
export async function computeKeysDigest(keys: Pick<KeyStore, 'list'>): Promise<Digest> {
  const sum = new DigestSum()
  for (const { id, hash, name, note, perSecond, perDay, created, expires, revoked } of await keys.list())
    sum.add(
      JSON.stringify([id, hash, name, note ?? null, perSecond, perDay, created, expires ?? null, revoked ?? null]),
    )
  return { index: KEYS, ...sum.result() }
}

/** The digest of API keys in a manifest; undefined when an earlier version wrote it. */
export const findKeysDigest = (digests: readonly Digest[]): Digest | undefined =>
  digests.find(({ index }) => index === KEYS)
