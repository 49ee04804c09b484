/** Numbers with fewer letters than this are decimals. */
const LONG = 20
/** Letters of one step of reading: their number stays exact. */
const STEP = 10
const STEP_VALUE = 36n ** BigInt(STEP)
/** Before the digits of a number to base 36; no decimal has it. */
const MARK = '^'

/** The text of a number: a decimal, or one of many digits (masks have 60) to base 36, which takes two thirds. */
export const numberText = (value: bigint): string => {
  const decimal = String(value)
  if (decimal.length < LONG) return decimal
  return value < 0n ? `-${MARK}${(-value).toString(36)}` : `${MARK}${value.toString(36)}`
}

/** The number of a text that `numberText` wrote. Throws SyntaxError for another one. */
export const numberIn = (text: string): bigint => {
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
