import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import { type Block, type ContractCode, PROOF_LEVELS, type ProofLevel } from '#chain/block.ts'
import { tryParseJson } from '#chain/json.ts'
import { parseAnswer } from '#chain/json-fields.ts'
import { Failure } from '#failure/failure.ts'

/** The file that lists all other files of an archive. */
export const MANIFEST = 'manifest.json'

/** Version of the format; raised when older programs could no longer read new archives. */
export const FORMAT = 1

/** One file of an archive. Hashes are SHA-256 in hexadecimal. */
export type ArchiveFile = {
  readonly name: string
  /** Heights of its first and last block. */
  readonly from: number
  readonly to: number
  /** Hash of its last block (base58). */
  readonly hash: string
  readonly bytes: number
  readonly sha256: string
  /**
   * Length and hash of its blocks before compression. Compressors differ, so files with the same blocks may
   * differ in bytes.
   */
  readonly content_bytes: number
  readonly content_sha256: string
  /** Hash of the table at its end, which contains the hash of each chunk. */
  readonly table_sha256: string
  /** System contracts whose code the file contains, each with the height of the block that deployed it. */
  readonly contracts: readonly (readonly [id: string, height: number])[]
}

/** Description of an archive. Its files follow each other without a gap. */
export type ArchiveManifest = {
  readonly format: typeof FORMAT
  readonly chain_id: number
  /**
   * Empty: no block contains the name of its network, and archives of the same blocks are equal, written from a node or
   * a store. Earlier versions wrote the name that a node gave.
   */
  readonly net_name: string
  /** Hash of block 0. */
  readonly genesis_hash: string
  /** Proof that the blocks allow: `linked` when they have no signatures. */
  readonly proof: Exclude<ProofLevel, 'whole'>
  /** Maximum number of blocks in a file. Every file ends before a multiple of it, or earlier. */
  readonly blocks_per_file: number
  /** Height and hash of the last block, and its time in nanoseconds since 1970 as text. */
  readonly height: number
  readonly hash: string
  readonly time: string
  readonly files: readonly ArchiveFile[]
}

/**
 * The text of a manifest: JSON whose last member is the hash of everything before it, so that any changed
 * byte is detected.
 */
export function manifestText(manifest: ArchiveManifest): string {
  const body = JSON.stringify(manifest, null, 1).slice(0, -2)
  return `${body},\n "sha256": "${sha256(body)}"\n}\n`
}

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/**
 * Reads a manifest. Throws Failure 'damaged' when it differs from the output of `manifestText`, 'usage' for
 * another format.
 */
export function readManifest(text: string, where: string): ArchiveManifest {
  const damaged = (reason: string): Failure =>
    new Failure('damaged', `${where}: ${reason}.`, {
      help: 'Get the file again from where the archive is published.',
    })
  const [, body, hash] = /^([\s\S]*),\n "sha256": "([0-9a-f]{64})"\n\}\n$/.exec(text) ?? []
  if (body === undefined) throw damaged('it is not the manifest of an archive of blocks')
  if (sha256(body) !== hash) throw damaged('its text does not have the hash at its end')
  const manifest = hasFewKeys(body) ? (tryParseJson(`${body}\n}`, MAX_PARTS) as ArchiveManifest | undefined) : undefined
  if (manifest === undefined) throw damaged('it cannot be read')
  if (manifest.format !== FORMAT)
    throw new Failure('usage', `${where} has format ${manifest.format}; this version reads format ${FORMAT}.`, {
      help: 'Use a version of iostlens that reads this format.',
    })
  const wrong = findManifestFault(manifest)
  if (wrong !== undefined) throw damaged(wrong)
  return manifest
}

/** A file takes some 30 parts of a manifest (`measureJson`), so these are 100,000 files or a thousand million blocks. */
const MAX_PARTS = 3_000_000
/** Each different key costs several times as much as a value. A manifest has 18 of them. */
const MAX_KEYS = 50

function hasFewKeys(text: string): boolean {
  const keys = new Set<string>()
  for (const [key] of text.matchAll(/"[^"]*":/g)) if (keys.add(key).size > MAX_KEYS) return false
  return true
}

/** The inconsistency in a manifest whose hash is correct; undefined: none. */
function findManifestFault({ files, proof, height, hash }: ArchiveManifest): string | undefined {
  if (!Array.isArray(files) || files.length === 0) return 'it names no files'
  if (!files.every(isFile)) return 'it does not describe each of its files'
  if (!PROOF_LEVELS.includes(proof)) return `its level of proof '${proof}' does not exist`
  for (const [at, { name, from, to }] of files.entries()) {
    const before = files[at - 1]
    if (!/^[0-9a-z-]+\.blocks$/.test(name)) return `'${name}' cannot be the name of a file`
    if (to < from || (before !== undefined && from !== before.to + 1))
      return `file ${name} with blocks ${from} to ${to} does not follow the file before it`
  }
  const last = files.at(-1)
  return last?.to === height && last.hash === hash ? undefined : 'its last file does not end at its height'
}

const isWholeNumber = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

/** Whether an entry of a manifest has all fields of a file that are used. */
function isFile(value: unknown): boolean {
  const file = (value ?? {}) as Record<keyof ArchiveFile, unknown>
  const { name, hash, sha256: whole, content_sha256, table_sha256, contracts } = file
  return (
    [file.from, file.to, file.bytes, file.content_bytes].every(isWholeNumber) &&
    [name, hash, whole, content_sha256, table_sha256].every(text => typeof text === 'string') &&
    Array.isArray(contracts) &&
    contracts.every(each => Array.isArray(each) && typeof each[0] === 'string' && isWholeNumber(each[1]))
  )
}

/**
 * Start of every archive file. The chunks follow, then the table of chunks as JSON, then the length of that
 * table in 8 digits.
 */
export const MAGIC = 'iostlens-blocks-1\n'

/** Digits at the end of a file that give the length of the table before them. */
export const LENGTH_DIGITS = 8

/** A compressed run of consecutive blocks in a file. */
export type Chunk = {
  /** Heights of its first and last block. */
  readonly from: number
  readonly to: number
  /** Its offset and length in the file, in bytes. */
  readonly offset: number
  readonly bytes: number
  readonly sha256: string
}

/**
 * Maximum number of blocks in a chunk, so that a chunk fits in one answer of a node (go-iost rpc: ranges of
 * 101).
 */
export const CHUNK_BLOCKS = 100

/**
 * Maximum length of a chunk's text in bytes. An archive may come from an untrusted source, and a few bytes
 * can decompress to any size. Nodes send no block of more than 10,000,000 bytes to each other (`OF_EXECUTION`), so a
 * valid chunk is shorter even if its last block is as large and is stored in its raw form too.
 */
export const MAX_TEXT_BYTES = 48 * 1024 * 1024

/**
 * The text of a chunk as UTF-8; undefined: it has more than `most` bytes. Throws Failure 'damaged' when the bytes differ
 * from those that were written.
 */
// biome-ignore lint/complexity/useMaxParams: the place in the file and the limit belong to no common record.
export async function unpackChunk(
  bytes: Uint8Array,
  chunk: Chunk,
  where: string,
  most: number,
): Promise<Buffer | undefined> {
  const what = `its blocks ${chunk.from} to ${chunk.to}`
  if (bytes.byteLength !== chunk.bytes || sha256(bytes) !== chunk.sha256)
    throw damagedFile(where, `${what} do not have the hash of the table at its end`)
  try {
    return await promisify(zstdDecompress)(bytes, { maxOutputLength: most })
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE' && most < MAX_TEXT_BYTES)
      return undefined
    throw damagedFile(where, `${what} cannot be decompressed to at most ${MAX_TEXT_BYTES} bytes`)
  }
}

/** A chunk takes 13 parts of a table (`measureJson`), and has a block at least. */
const PARTS_OF_CHUNK = 16
const MAX_TABLE_PARTS = 1_000_000

/** The chunks that the table of a file with `blocks` blocks lists. Throws Failure 'damaged' for any other text. */
export function parseChunkTable(table: string, where: string, blocks: number): readonly Chunk[] {
  const chunks = tryParseJson(table, Math.min(MAX_TABLE_PARTS, PARTS_OF_CHUNK * blocks))
  if (Array.isArray(chunks) && chunks.every(isChunk)) return chunks
  throw damagedFile(where, 'its table cannot be read')
}

function isChunk(value: unknown): value is Chunk {
  const { from, to, offset, bytes, sha256: hash } = (value ?? {}) as Record<keyof Chunk, unknown>
  return (
    [from, to, offset, bytes].every(isWholeNumber) &&
    Number(from) <= Number(to) &&
    Number(to) - Number(from) < CHUNK_BLOCKS &&
    Number(bytes) <= MAX_TEXT_BYTES &&
    typeof hash === 'string'
  )
}

export const damagedFile = (where: string, reason: string): Failure =>
  new Failure('damaged', `Archive file ${where}: ${reason}.`, {
    help: 'Get the file again from where the archive is published, or write it again from a node.',
  })

/**
 * A block in an archive: lines of text in a fixed order and form, so that the same block always makes the same bytes.
 * The first line is the header as getBlockHeaderByRange returns it, the second the transactions as
 * getBlockTxsByContract returns them. Optional lines follow, each with a one-letter prefix. `r` is the response of
 * getRawBlockByNumber in base64, since it may not be valid UTF-8. `c` is a response of getContract. `i` and `o` are the
 * `info` and `orig_info` of getBlockByNumber when they do not follow from the header.
 */
export type BlockLines = {
  readonly height: number
  readonly head: string
  readonly transactions: string
  readonly more: readonly string[]
}

/** The content of a block that an archive stores. */
export type ArchivedBlock = {
  readonly block: Block
  /** Signature of the block's header as nodes return it, `{algorithm, sig, pubKey}`; undefined: none. */
  readonly sign: unknown
  /** The node's raw block; present when the proof of the block needs it. */
  readonly raw?: Uint8Array | undefined
  readonly code: readonly ContractCode[]
}

/** The text of a chunk of blocks. */
export const joinBlockLines = (blocks: readonly BlockLines[]): string =>
  blocks.map(({ head, transactions, more }) => `${[head, transactions, ...more].join('\n')}\n`).join('')

/** A head has some hundred bytes, unless its `info` lists the transactions of the block (`INFO` in `bounds.ts`). */
const MAX_HEAD_BYTES = 512 * 1024
/** Optional lines of a block: `i`, `o`, `r`, and one for each system contract that it deploys. */
const MAX_OPTIONAL_LINES = 100

const FIRST_OF_HEAD = 0x7b
const FIRST_OF_TRANSACTIONS = 0x5b

/**
 * The blocks in the text of a chunk, UTF-8, which has `count` blocks from height `from` on; undefined when the text is
 * malformed. Only the bytes of expected lines become strings: a chunk may consist of line feeds.
 */
export function readLines(
  text: Buffer,
  { from, count }: { readonly from: number; readonly count: number },
): readonly BlockLines[] | undefined {
  const blocks: BlockLines[] = []
  let at = 0
  /** The next line, if it begins with this byte and has at most `most` bytes; '' otherwise. */
  const line = (first: number | undefined, most = text.length): string => {
    const end = text.indexOf(0x0a, at)
    if (end === -1 || end - at > most || text[at] !== first) return ''
    const read = text.toString('utf8', at, end)
    at = end + 1
    return read
  }
  while (blocks.length < count) {
    const head = line(FIRST_OF_HEAD, MAX_HEAD_BYTES)
    const transactions = head && line(FIRST_OF_TRANSACTIONS)
    const more: string[] = []
    for (let next = transactions; next !== '' && at < text.length && text[at] !== FIRST_OF_HEAD; more.push(next))
      next = more.length < MAX_OPTIONAL_LINES ? line(text[at]) : ''
    if (transactions === '' || more.at(-1) === '') return undefined
    blocks.push({ height: from + blocks.length, head, transactions, more })
  }
  return at === text.length ? blocks : undefined
}

/** The code of the contracts that a block deploys. Throws Failure 'bad_block' for a line that is not JSON. */
export const parseBlockCode = ({ more }: BlockLines): readonly ContractCode[] =>
  more.flatMap(line => (line.startsWith('c') ? [parseAnswer(line.slice(1), 'contract') as ContractCode] : []))
