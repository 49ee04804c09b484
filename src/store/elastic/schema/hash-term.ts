import { Buffer } from 'node:buffer'

/** No number begins so: earlier versions stored numbers, and a migration reads what they stored. */
const FIRST = 'h'

const bytes = Buffer.alloc(8)

/** A field of the kind `hash8` as it is stored and searched for: shorter than the number. */
export const hashTerm = (value: bigint): string => {
  bytes.writeBigInt64BE(value)
  return FIRST + bytes.toString('base64url')
}

/** undefined: a search for the value would not find this term. Throws on what is neither a term nor a number. */
export const fromHashTerm = (term: string): bigint | undefined => {
  if (!term.startsWith(FIRST)) return BigInt(term)
  const value = Buffer.from(term.slice(FIRST.length), 'base64url').readBigInt64BE()
  return hashTerm(value) === term ? value : undefined
}
