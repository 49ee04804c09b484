/**
 * Texts of the chain that are not UTF-8: a node's JSON has U+FFFD in place of each invalid byte, so the hash cannot be
 * recomputed. Here such a byte is kept as a lone surrogate U+DC80 … U+DCFF (PEP 383), which JSON.parse leaves alone.
 */
const REPLACEMENT = '\ufffd'
const BYTES = 0xdc00
const LONE = /[\udc80-\udcff]/
const FIRST_OF_LETTER = 0xc2
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const letterLength = (first: number): number => {
  if (first < 0x80) return 1
  if (first < FIRST_OF_LETTER) return 0
  if (first < 0xe0) return 2
  if (first < 0xf0) return 3
  return first < 0xf5 ? 4 : 0
}

const decoded = (bytes: Uint8Array): string | undefined => {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

/** Bytes as text, those that are no UTF-8 as lone surrogates. */
export const textOfBytes = (bytes: Uint8Array): string => {
  const whole = decoded(bytes)
  if (whole !== undefined) return whole
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0
    const length = letterLength(first)
    const letter = length === 0 ? undefined : decoded(bytes.subarray(at, at + length))
    text += letter ?? String.fromCharCode(BYTES + first)
    at += letter === undefined ? 1 : length
  }
  return text
}

/** The inverse of `textOfBytes`; a text that is UTF-8 stays itself. */
export const bytesOfText = (text: string): Uint8Array | string => {
  if (text.isWellFormed() || !LONE.test(text)) return text
  return Buffer.concat(
    [...text].map(letter => {
      const code = letter.charCodeAt(0)
      return letter.length === 1 && LONE.test(letter) ? Uint8Array.of(code - BYTES) : Buffer.from(letter)
    }),
  )
}

/**
 * Whether a text of the node's JSON is what is left of `whole` (with lone surrogates). How many U+FFFD stand for a run of
 * bytes differs between writers of JSON.
 */
export const isLossyOf = (shown: string, whole: string): boolean => {
  const squeezed = (text: string): string => text.replace(/(?:\ufffd|[\udc80-\udcff])+/g, REPLACEMENT)
  return shown === whole || squeezed(shown) === squeezed(whole)
}

/** Whether bytes of a text may be lost. */
export const mayBeLossy = (text: string): boolean => text.includes(REPLACEMENT)
