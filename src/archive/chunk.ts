import { Failure } from '#failure/failure.ts'
import { sha256 } from './manifest.ts'

/** A file of an archive is this text, its chunks, the table of chunks as JSON, and the length of the table in 8 digits. */
export const MAGIC = 'iostlens-blocks-1\n'

/** Digits at the end of a file that tell the length of the table before them. */
export const LENGTH_DIGITS = 8

/** One compressed run of blocks in a file. */
export type Chunk = {
  /** Heights of its first and last block. */
  readonly from: number
  readonly to: number
  /** Where it begins in the file, and its length. */
  readonly offset: number
  readonly bytes: number
  readonly sha256: string
}

/** A chunk has at most this number of blocks: what nodes give in one answer (go-iost rpc: ranges of 101). */
export const CHUNK_BLOCKS = 100

/** From this number of characters on a chunk is full: an answer made of it stays well below the limit of answers. */
export const CHUNK_CHARACTERS = 4 * 1024 * 1024

/** Of zstd: higher levels save a few per cent and take many times as long. */
const LEVEL = 9

export const compressed = (text: string): Promise<Uint8Array> =>
  Bun.zstdCompress(Buffer.from(text), { level: LEVEL })

/** The text of a chunk. Throws Failure 'damaged' when its bytes are not those that were written. */
export const chunkText = async (bytes: Uint8Array, chunk: Chunk, where: string): Promise<string> => {
  if (bytes.byteLength !== chunk.bytes || sha256(bytes) !== chunk.sha256)
    throw damagedFile(
      where,
      `its blocks ${chunk.from} to ${chunk.to} do not have the hash of the table at its end`,
    )
  return Buffer.from(await Bun.zstdDecompress(bytes)).toString()
}

/** The end of a file: the table of its chunks. */
export const tableText = (chunks: readonly Chunk[]): string => JSON.stringify(chunks)

export const damagedFile = (where: string, reason: string): Failure =>
  new Failure('damaged', `Archive file ${where}: ${reason}.`, {
    help: 'Get the file again from where the archive is published, or write it again from a node.',
  })
