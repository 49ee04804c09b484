/** SHA-256 in words of 32 bits. */
const WORDS = 8
/** Additions after which a word, which is a double here, might not be exact any more. */
const EXACT = 2 ** 20

/** How many texts there were, and the sum of their SHA-256 modulo 2^256, hexadecimal. */
export type Summed = { readonly documents: number; readonly sum: string }

/**
 * Adds up the SHA-256 of texts: the same for the same texts in any order. One that is missing, changed or there twice gives
 * another sum (exclusive or would not notice two of the same). It finds damage; it does not resist somebody who may choose
 * millions of texts freely, which whoever can write a store need not do either.
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

  result(): Summed {
    this.carry()
    const sum = [...this.sums].map(word => word.toString(16).padStart(8, '0')).join('')
    return { documents: this.documents, sum }
  }

  /** Brings each word below 2^32 again; what the first one has beyond that goes. */
  private carry(): void {
    let over = 0
    for (let at = WORDS - 1; at >= 0; at--) {
      const word = (this.sums[at] ?? 0) + over
      over = Math.floor(word / 2 ** 32)
      this.sums[at] = word - over * 2 ** 32
    }
  }
}

/** The sum of the texts of several sums. */
export const addedUp = (sums: readonly Summed[]): Summed => ({
  documents: sums.reduce((all, { documents }) => all + documents, 0),
  sum: BigInt.asUintN(
    256,
    sums.reduce((all, { sum }) => all + BigInt(`0x${sum}`), 0n),
  )
    .toString(16)
    .padStart(WORDS * 8, '0'),
})
