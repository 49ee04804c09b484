import { Buffer } from 'node:buffer'

/** No number begins with this letter: earlier versions stored numbers, which a migration reads. */
const FIRST = 'h'

const bytes = Buffer.alloc(8)

/** The stored and searched term of a field of kind `hash8`: shorter than the number. */
export const hashTerm = (value: bigint): string => {
  bytes.writeBigInt64BE(value)
  return FIRST + bytes.toString('base64url')
}

/** undefined: a search for the value would not find this term. Throws unless it is a term or a number. */
export const fromHashTerm = (term: string): bigint | undefined => {
  if (!term.startsWith(FIRST)) return BigInt(term)
  const value = Buffer.from(term.slice(FIRST.length), 'base64url').readBigInt64BE()
  return hashTerm(value) === term ? value : undefined
}
