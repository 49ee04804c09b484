/** Numbers with fewer characters than this are written as decimals. */
const LONG = 20
/** Digits parsed at once, few enough for an exact `number`. */
const STEP = 10
const STEP_VALUE = 36n ** BigInt(STEP)
/** Prefix of the digits of a base-36 number; no decimal contains it. */
const MARK = '^'

/**
 * The text of a number: a decimal, or base 36 if it has many digits (masks have 60), which takes two thirds
 * of the space.
 */
export function numberText(value: bigint): string {
  const decimal = String(value)
  if (decimal.length < LONG) return decimal
  return value < 0n ? `-${MARK}${(-value).toString(36)}` : `${MARK}${value.toString(36)}`
}

/** The number in a text that `numberText` wrote. Throws SyntaxError if the text is not one. */
export function parsePackedNumber(text: string): bigint {
  const mark = text.indexOf(MARK)
  if (mark < 0) return BigInt(text)
  let value = 0n
  for (let at = mark + 1; at < text.length; at += STEP) {
    const digits = text.slice(at, at + STEP)
    if (!/^[0-9a-z]+$/.test(digits)) throw new SyntaxError(`"${text}" is no number of a series.`)
    const scale = digits.length === STEP ? STEP_VALUE : 36n ** BigInt(digits.length)
    value = value * scale + BigInt(Number.parseInt(digits, 36))
  }
  return mark === 0 ? value : -value
}
