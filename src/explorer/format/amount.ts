/** A decimal number in parts as people read it: thousands apart, without zeros at its end. */
export const grouped = (decimal: string): string => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? []
  if (whole === '') return decimal
  const trimmed = fraction.replace(/0+$/, '')
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${trimmed === '' ? '' : `.${trimmed}`}`
}

/** The share of a part in a whole in percent with two decimals, rounded down; both are decimals. `undefined`: no whole. */
export const percentOf = (part: string, whole: string): string | undefined => {
  const units = (decimal: string): bigint => {
    const [integral = '0', fraction = ''] = decimal.split('.')
    return BigInt(integral + fraction.slice(0, 18).padEnd(18, '0'))
  }
  const all = units(whole)
  if (all <= 0n) return undefined
  const hundredths = (units(part) * 10_000n) / all
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
}
