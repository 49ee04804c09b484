import { DICTIONARY_1 } from './dictionary-1.ts'
import { compress, type Dictionary, decompress, prepareDictionary } from './lz4.ts'

/**
 * The format of a stored text: number of the dictionary (1 byte), CRC-32 of the text's UTF-8 (4 bytes), its length in
 * bytes (LEB128), an LZ4 block. The value contains the number, so texts of an older dictionary remain readable.
 */
const CHECK_AT = 1
const SIZE_AT = 5
const NEWEST = 1
const dictionaries: ReadonlyMap<number, Dictionary> = new Map([[NEWEST, prepareDictionary(DICTIONARY_1)]])

/** Maximum bytes of a text: four bytes of seven bits. A damaged length must not exhaust the memory. */
const MAX = 2 ** 28 - 1
const MAX_SIZE_BYTES = 4

/** The stored form of a text; the text itself unless the stored form is shorter. */
export function packText(text: string): Uint8Array | string {
  const bytes = Buffer.from(text)
  const dictionary = dictionaries.get(NEWEST)
  if (dictionary === undefined || bytes.length > MAX) return text
  const size = sizeBytes(bytes.length)
  const block = compress(dictionary, bytes)
  const blockAt = SIZE_AT + size.length
  if (blockAt + block.length >= bytes.length) return text
  const packed = new Uint8Array(blockAt + block.length)
  packed[0] = NEWEST
  putCheck(packed, Bun.hash.crc32(bytes))
  packed.set(size, SIZE_AT)
  packed.set(block, blockAt)
  return packed
}

/** Written without a DataView, here and in `computeChecksum`: creating one takes longer than the rest of a short text. */
function putCheck(packed: Uint8Array, check: number): void {
  for (let at = 0; at < 4; at += 1) packed[CHECK_AT + at] = check >>> (24 - 8 * at)
}

function computeChecksum(packed: Uint8Array): number {
  let check = 0
  for (let at = 0; at < 4; at += 1) check = check * 256 + (packed[CHECK_AT + at] ?? 0)
  return check
}

function sizeBytes(size: number): readonly number[] {
  const bytes: number[] = []
  let rest = size
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return [...bytes, rest]
}

/** The text of `packText`; undefined: damaged, or packed with a dictionary that this version lacks. */
export function unpackText(packed: Uint8Array): string | undefined {
  const dictionary = dictionaries.get(packed[0] ?? 0)
  if (dictionary === undefined || packed.length <= SIZE_AT) return undefined
  let size = 0
  let at = SIZE_AT
  for (let more = true; more; at += 1) {
    if (at === SIZE_AT + MAX_SIZE_BYTES) return undefined
    const byte = packed[at] ?? 0
    size |= (byte & 0x7f) << (7 * (at - SIZE_AT))
    more = byte > 0x7f
  }
  const bytes = decompress(dictionary, packed.subarray(at), size)
  if (bytes === undefined || Bun.hash.crc32(bytes) !== computeChecksum(packed)) return undefined
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
}
