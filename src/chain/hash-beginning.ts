/** Minimum number of letters in a prefix: a shorter one matches too many hashes to look them up one by one. */
const LEAST = 10
const BEGINNING = /^[1-9A-HJ-NP-Za-km-z]+$/
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Lengths of nearly all hashes in base58; one in 50,000 is shorter. */
const LENGTHS = [44, 43, 42]
/** All bits of a hash except those of its first 8 bytes. */
const OTHER_BITS = 192n
const HASHES = 2n ** 256n

/**
 * The possible `hash8` numbers of hashes whose base58 begins with a text: some 150 for 10 letters, and fewer
 * for more. Empty: no hash begins with the text, or it is too short.
 */
export function listHash8Candidates(text: string): readonly bigint[] {
  if (text.length < LEAST || text.length > Math.max(...LENGTHS) || !BEGINNING.test(text)) return []
  const number = [...text].reduce((sum, letter) => sum * 58n + BigInt(ALPHABET.indexOf(letter)), 0n)
  const found = new Set<bigint>()
  for (const length of LENGTHS.filter(each => each >= text.length)) {
    const open = 58n ** BigInt(length - text.length)
    const first = (number * open) >> OTHER_BITS
    const end = number * open + open
    const last = ((end < HASHES ? end : HASHES) - 1n) >> OTHER_BITS
    for (let at = first; at <= last; at += 1n) found.add(BigInt.asIntN(64, at))
  }
  return [...found]
}
