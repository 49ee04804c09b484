/**
 * The characters with a four-bit code. Two runs of zeros, with which amounts often end, also have a code. Any
 * other byte of the text's UTF-8 takes twelve bits: an escape code and the byte itself. The characters are
 * the most frequent in the recorded chain's series, whose texts shrink to 48 %.
 */
const SIGNS = '0123456789,;-'
/** Codes of the two runs of zeros. */
const THREE = SIGNS.length
const SIX = THREE + 1
/** Precedes the two halves of an uncoded byte. An escape in the last half byte is padding. */
const ESCAPE = 15
const ZERO = 0x30

const signs = Buffer.from(SIGNS)
const numbers = new Uint8Array(256).fill(ESCAPE)
for (const [number, sign] of signs.entries()) numbers[sign] = number

/** The stored form of a text; the text itself unless the stored form is shorter. */
export function packDigits(text: string): Uint8Array | string {
  const bytes = Buffer.from(text)
  const length = bytes.length
  const halves = new Uint8Array(3 * length + 1)
  let size = 0
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at] as number
    const zeros = byte === ZERO ? findZeroRun(bytes, at) : 0
    if (zeros > 0) {
      halves[size++] = zeros === 6 ? SIX : THREE
      at += zeros - 1
      continue
    }
    const number = numbers[byte] as number
    halves[size++] = number
    if (number !== ESCAPE) continue
    halves[size++] = byte >> 4
    halves[size++] = byte & 15
  }
  if (size % 2 === 1) halves[size++] = ESCAPE
  if (size / 2 >= length) return text
  const packed = new Uint8Array(size / 2)
  for (let at = 0; at < packed.length; at += 1)
    packed[at] = ((halves[2 * at] as number) << 4) | (halves[2 * at + 1] as number)
  return packed
}

/** The longest run of zeros at `at` that has a code; 0: none. */
function findZeroRun(bytes: Uint8Array, at: number): 0 | 3 | 6 {
  if (bytes[at + 1] !== ZERO || bytes[at + 2] !== ZERO) return 0
  return bytes[at + 3] === ZERO && bytes[at + 4] === ZERO && bytes[at + 5] === ZERO ? 6 : 3
}

/** The text of `packDigits`; undefined: the bytes are damaged. */
export function unpackDigits(packed: Uint8Array): string | undefined {
  const halves = splitHalfBytes(packed)
  const bytes = Buffer.alloc(6 * halves.length, ZERO)
  let size = 0
  for (let at = 0; at < halves.length; at += 1) {
    const half = halves[at] as number
    if (half < THREE) bytes[size++] = signs[half] as number
    // The buffer is filled with zeros already.
    else if (half < ESCAPE) size += half === SIX ? 6 : 3
    else if (at + 2 < halves.length) bytes[size++] = ((halves[++at] as number) << 4) | (halves[++at] as number)
    else if (at + 1 < halves.length) return undefined
  }
  return size === 0 ? undefined : bytes.toString('utf8', 0, size)
}

function splitHalfBytes(packed: Uint8Array): Uint8Array {
  const halves = new Uint8Array(2 * packed.length)
  for (let at = 0; at < packed.length; at += 1) {
    const byte = packed[at] as number
    halves[2 * at] = byte >> 4
    halves[2 * at + 1] = byte & 15
  }
  return halves
}
