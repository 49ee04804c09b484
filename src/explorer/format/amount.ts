/** A decimal number in parts as people read it: thousands apart, without zeros at its end. */
export const grouped = (decimal: string): string => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? []
  if (whole === '') return decimal
  const trimmed = fraction.replace(/0+$/, '')
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${trimmed === '' ? '' : `.${trimmed}`}`
}

/** More decimals than any token has. */
const DECIMALS = 18

/** A decimal as whole units of 10^-18. */
const unitsOf = (decimal: string): bigint => {
  const [integral = '0', fraction = ''] = decimal.split('.')
  return BigInt(integral + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'))
}

/** The exact sum of decimals that are not negative. */
export const sumOf = (decimals: readonly string[]): string => {
  const text = String(decimals.reduce((sum, each) => sum + unitsOf(each), 0n)).padStart(DECIMALS + 1, '0')
  return `${text.slice(0, -DECIMALS)}.${text.slice(-DECIMALS)}`.replace(/\.?0+$/, '') || '0'
}

/** The share of a part in a whole in percent with two decimals, rounded down; both are decimals. `undefined`: no whole. */
export const percentOf = (part: string, whole: string): string | undefined => {
  const all = unitsOf(whole)
  if (all <= 0n) return undefined
  const hundredths = (unitsOf(part) * 10_000n) / all
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
}
