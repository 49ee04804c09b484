import { DICTIONARY_1 } from './dictionary-1.ts'

/**
 * LZ4 blocks with a preceding dictionary, in the format of https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md.
 * Any LZ4 library can read them. We use our own implementation because short texts are stored one by one, by the
 * million: a call of zlib with a dictionary costs ten times as much (`docs/performance.md`), and its output differs
 * between machines. Here the same input gives the same bytes everywhere.
 */
const LEAST_MATCH = 4
/** Maximum offset of a match. */
const FURTHEST = 0xffff
/** The last five bytes are literals, and no match begins within the last twelve. */
const LAST_LITERALS = 5
const LAST_MATCH = 12
/** Value of the token's four bits that means that further bytes of the length follow. */
const REST = 15
const HASH_BITS = 12
const PRIME = 2_654_435_761

/** Text known to both sides, prepared for `compress`. */
type Dictionary = {
  readonly bytes: Uint8Array
  /** Hash of four bytes → position of their last occurrence, plus one. */
  readonly places: Int32Array
}

const hashWord = (bytes: Uint8Array, at: number): number => Math.imul(readWord(bytes, at), PRIME) >>> (32 - HASH_BITS)

const readWord = (bytes: Uint8Array, at: number): number =>
  (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)

/** Prepares the text that precedes every block; only its last 64 KiB can be matched. */
function prepareDictionary(text: string): Dictionary {
  const bytes = new TextEncoder().encode(text)
  const places = new Int32Array(2 ** HASH_BITS)
  for (let at = 0; at + LEAST_MATCH <= bytes.length; at += 1) places[hashWord(bytes, at)] = at + 1
  return { bytes, places }
}

/**
 * Buffers reused between calls. `window`: a dictionary and the input after it. `met`: the last position of each hash;
 * positions keep counting across calls, so that values below `since` belong to earlier inputs. `output`: the block.
 */
let window = new Uint8Array(2 ** 16)
let windowOf: Dictionary | undefined
const met = new Int32Array(2 ** HASH_BITS)
let since = 1
const MAX_COUNTED = 2 ** 30
let output = new Uint8Array(2 ** 16)
let written = 0

/** Buffers for `decompress`: a dictionary and the text after it, and the positions of reading and writing. */
let opened = new Uint8Array(2 ** 16)
let known: Dictionary | undefined
let block: Uint8Array = opened
let at = 0
let to = 0
let end = 0

/** The compressed block of an input. */
function compress(dictionary: Dictionary, input: Uint8Array): Uint8Array {
  const begin = dictionary.bytes.length
  const end = begin + input.length
  copyInput(dictionary, input)
  const count = since - begin
  let anchor = begin
  for (let next = begin; next < end - LAST_MATCH; ) {
    const hash = hashWord(window, next)
    const last = met[hash] ?? 0
    const from = last >= since ? last - count : (dictionary.places[hash] ?? 0) - 1
    met[hash] = next + count
    if (from < 0 || next - from > FURTHEST || readWord(window, from) !== readWord(window, next)) {
      next += 1
      continue
    }
    const length = matchLength(from, next, end - LAST_LITERALS)
    putSequence(anchor, next, { offset: next - from, length })
    next += length
    // Most positions inside a match are found through its source, but not its end.
    met[hashWord(window, next - 2)] = next - 2 + count
    anchor = next
  }
  putSequence(anchor, end)
  since += input.length
  return output.slice(0, written)
}

function copyInput(dictionary: Dictionary, input: Uint8Array): void {
  const size = dictionary.bytes.length + input.length
  if (window.length < size || windowOf !== dictionary) {
    if (window.length < size) window = new Uint8Array(2 * size)
    window.set(dictionary.bytes)
    windowOf = dictionary
  }
  window.set(input, dictionary.bytes.length)
  const most = input.length + Math.ceil(input.length / 255) + 16
  if (output.length < most) output = new Uint8Array(2 * most)
  written = 0
  if (since + input.length < MAX_COUNTED) return
  met.fill(0)
  since = 1
}

function matchLength(from: number, at: number, end: number): number {
  let length = LEAST_MATCH
  while (at + length < end && window[from + length] === window[at + length]) length += 1
  return length
}

/** Literals of the window, then a match; the last sequence has no match. */
function putSequence(anchor: number, at: number, match?: { readonly offset: number; readonly length: number }): void {
  const literals = at - anchor
  const more = match === undefined ? 0 : match.length - LEAST_MATCH
  output[written++] = (Math.min(literals, REST) << 4) | Math.min(more, REST)
  putRest(literals)
  for (let next = anchor; next < at; next += 1) output[written++] = window[next] ?? 0
  if (match === undefined) return
  output[written++] = match.offset
  output[written++] = match.offset >> 8
  putRest(more)
}

function putRest(length: number): void {
  if (length < REST) return
  let rest = length - REST
  for (; rest >= 255; rest -= 255) output[written++] = 255
  output[written++] = rest
}

/**
 * The decompressed text of `size` bytes, valid until the next call. undefined: the block is damaged, or has
 * another dictionary or size.
 */
function decompress(dictionary: Dictionary, from: Uint8Array, size: number): Uint8Array | undefined {
  const begin = dictionary.bytes.length
  prepareOutput(dictionary, begin + size)
  block = from
  at = 0
  to = begin
  end = begin + size
  while (at < block.length) {
    const token = block[at++] ?? 0
    if (!copyLiterals(readLength(token >> 4))) return undefined
    if (at === block.length) return to === end ? opened.subarray(begin, end) : undefined
    const offset = (block[at] ?? 0) | ((block[at + 1] ?? 0) << 8)
    at += 2
    if (!copyMatch(offset, readLength(token & REST) + LEAST_MATCH)) return undefined
  }
  return undefined
}

function prepareOutput(dictionary: Dictionary, size: number): void {
  if (opened.length >= size && known === dictionary) return
  if (opened.length < size) opened = new Uint8Array(2 * size)
  opened.set(dictionary.bytes)
  known = dictionary
}

/** A length beyond the token's four bits continues in further bytes, up to the first that is not 255. */
function readLength(bits: number): number {
  let length = bits
  if (bits === REST) for (let more = 255; more === 255 && at < block.length; length += more) more = block[at++] ?? 0
  return length
}

/** false: too few bytes are left. */
function copyLiterals(count: number): boolean {
  if (at + count > block.length || to + count > end) return false
  for (let left = count; left > 0; left -= 1) opened[to++] = block[at++] ?? 0
  return true
}

/** false: the match begins before the dictionary or ends after the text. */
function copyMatch(offset: number, length: number): boolean {
  if (at > block.length || offset === 0 || offset > to || to + length > end) return false
  for (let left = length; left > 0; left -= 1) {
    opened[to] = opened[to - offset] ?? 0
    to += 1
  }
  return true
}

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
