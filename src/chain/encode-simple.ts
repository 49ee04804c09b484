type Part = bigint | number | string | Uint8Array

const LONG = 8
const INT = 4

const sizeOf = (part: Part): number => {
  if (typeof part === 'bigint') return LONG
  if (typeof part === 'number') return INT
  return INT + (typeof part === 'string' ? Buffer.byteLength(part) : part.length)
}

/**
 * The chain's form of what it hashes (go-iost common, SimpleEncoder): bigints as 64 and numbers as 32 bits, big endian;
 * texts and bytes behind their 32-bit length. Written into one buffer: several of them are hashed for every block.
 */
export const encodeSimple = (parts: readonly Part[]): Uint8Array => {
  let size = 0
  for (const part of parts) size += sizeOf(part)
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const part of parts) {
    if (typeof part === 'bigint') at = bytes.writeBigInt64BE(part, at)
    else if (typeof part === 'number') at = bytes.writeUInt32BE(part, at)
    else if (typeof part === 'string') {
      const written = bytes.write(part, at + INT)
      bytes.writeInt32BE(written, at)
      at += INT + written
    } else {
      at = bytes.writeInt32BE(part.length, at)
      bytes.set(part, at)
      at += part.length
    }
  }
  return bytes
}
