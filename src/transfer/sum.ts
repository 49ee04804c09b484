/** Number of 32-bit words in a SHA-256. */
const WORDS = 8
/** Number of additions after which a word, stored as a double, might no longer be exact. */
const EXACT = 2 ** 20

/** The number of texts, and the sum of their SHA-256 modulo 2^256 in hexadecimal. */
export type DocumentSum = { readonly documents: number; readonly sum: string }

/**
 * Sums the SHA-256 of texts: the same texts give the same sum in any order. A missing, changed or repeated
 * text changes the sum (exclusive or would miss pairs of equal texts). The sum detects damage. It does not
 * resist an attacker who can choose millions of texts, but such an attacker could write the store anyway.
 */
export class DigestSum {
  private readonly bytes = new Uint8Array(WORDS * 4)
  private readonly words = new DataView(this.bytes.buffer)
  private readonly sums = new Float64Array(WORDS)
  private documents = 0

  add(text: string): void {
    Bun.SHA256.hash(text, this.bytes)
    for (let at = 0; at < WORDS; at++) this.sums[at] = (this.sums[at] ?? 0) + this.words.getUint32(at * 4)
    this.documents += 1
    if (this.documents % EXACT === 0) this.carry()
  }

  result(): DocumentSum {
    this.carry()
    const sum = [...this.sums].map(word => word.toString(16).padStart(8, '0')).join('')
    return { documents: this.documents, sum }
  }

  /** Reduces each word below 2^32; the carry of the first word is dropped. */
  private carry(): void {
    let over = 0
    for (let at = WORDS - 1; at >= 0; at--) {
      const word = (this.sums[at] ?? 0) + over
      over = Math.floor(word / 2 ** 32)
      this.sums[at] = word - over * 2 ** 32
    }
  }
}

/** The sum over several sums. */
export const sumOfSums = (sums: readonly DocumentSum[]): DocumentSum => ({
  documents: sums.reduce((all, { documents }) => all + documents, 0),
  sum: BigInt.asUintN(
    256,
    sums.reduce((all, { sum }) => all + BigInt(`0x${sum}`), 0n),
  )
    .toString(16)
    .padStart(WORDS * 8, '0'),
})
