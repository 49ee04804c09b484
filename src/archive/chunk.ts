import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import { tryParseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { isWholeNumber, sha256 } from './manifest.ts'

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
 * A chunk with this number of characters takes no more blocks: an answer made from it stays well below the size limit.
 */
export const CHUNK_CHARACTERS = 4 * 1024 * 1024

/** Level of zstd: higher levels save a few per cent and take many times as long. */
const LEVEL = 9

/**
 * Maximum length of a chunk's text in bytes. An archive may come from an untrusted source, and a few bytes
 * can decompress to any size. Nodes send no block of more than 10,000,000 bytes to each other (`OF_EXECUTION`), so a
 * valid chunk is shorter even if its last block is as large and is stored in its raw form too.
 */
export const MAX_TEXT_BYTES = 48 * 1024 * 1024

/** Nearly all chunks are shorter, compressed or not; longer ones are read one at a time. */
export const USUAL_TEXT_BYTES = 8 * 1024 * 1024

export const compressed = (text: string): Promise<Uint8Array> => Bun.zstdCompress(Buffer.from(text), { level: LEVEL })

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
    return await decompressed(bytes, { maxOutputLength: most })
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE' && most < MAX_TEXT_BYTES)
      return undefined
    throw damagedFile(where, `${what} cannot be decompressed to at most ${MAX_TEXT_BYTES} bytes`)
  }
}

const decompressed = promisify(zstdDecompress)

/** The end of a file: the table of its chunks. */
export const tableText = (chunks: readonly Chunk[]): string => JSON.stringify(chunks)

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
