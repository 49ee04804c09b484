/**
 * The chain's form of what it hashes (go-iost common, SimpleEncoder): bigints as 64 and numbers as 32 bits, big endian;
 * texts and bytes behind their 32-bit length.
 */
export const encodeSimple = (parts: readonly (bigint | number | string | Uint8Array)[]): Uint8Array => {
  const chunks: Uint8Array[] = []
  for (const part of parts) {
    if (typeof part === 'bigint') {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64BE(part)
      chunks.push(bytes)
      continue
    }
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    const length = Buffer.alloc(4)
    length.writeInt32BE(typeof bytes === 'number' ? bytes : bytes.length)
    chunks.push(length)
    if (typeof bytes !== 'number') chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}
