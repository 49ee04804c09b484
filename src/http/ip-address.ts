/** An IP address as a number. An IPv4-mapped IPv6 address is an IPv4 address. */
export type IpAddress = { readonly bits: 32 | 128; readonly value: bigint }

/** The addresses with the same first `length` bits. */
export type IpRange = IpAddress & { readonly length: number }

/** Parses an IP address; undefined: the text is not one. */
export function parseIpAddress(text: string): IpAddress | undefined {
  const four = parseIpv4(text)
  if (four !== undefined) return { bits: 32, value: four }
  const six = parseIpv6(text)
  if (six === undefined) return undefined
  return six >> 32n === 0xffffn ? { bits: 32, value: six & 0xffffffffn } : { bits: 128, value: six }
}

/** Parses `10.0.0.0/8`, `fd00::/8`, or a single address. undefined: the text is neither. */
export function parseIpRange(text: string): IpRange | undefined {
  const [name = '', digits, ...more] = text.split('/')
  const address = parseIpAddress(name)
  if (address === undefined || more.length > 0) return undefined
  if (digits === undefined) return { ...address, length: address.bits }
  // The prefix length of an IPv4-mapped address includes the 96 bits before the IPv4 part.
  const length = Number(digits) - (name.includes(':') && address.bits === 32 ? 96 : 0)
  return /^\d{1,3}$/.test(digits) && length >= 0 && length <= address.bits ? { ...address, length } : undefined
}

export function isInRange({ bits, value }: IpAddress, range: IpRange): boolean {
  const rest = BigInt(bits - range.length)
  return bits === range.bits && value >> rest === range.value >> rest
}

/** The address as text: `192.0.2.1`, or the eight groups of an IPv6 address. */
export function ipAddressText({ bits, value }: IpAddress): string {
  const [size, digits, between] = bits === 32 ? [8n, 10, '.'] : [16n, 16, ':']
  const groups = bits === 32 ? 4 : 8
  return Array.from({ length: groups }, (_, at) =>
    ((value >> (size * BigInt(groups - 1 - at))) & ((1n << size) - 1n)).toString(digits),
  ).join(between)
}

/**
 * The network to which a limit applies, as a text of at most 16 characters: an IPv4 address, or the first 64
 * bits of an IPv6 address. The other 64 belong to one household.
 */
export const toNetwork = ({ bits, value }: IpAddress): string =>
  bits === 32 ? value.toString(16).padStart(8, '0') : (value >> 64n).toString(16).padStart(16, '0')

function parseIpv4(text: string): bigint | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number)
  if (parts === undefined || parts.some(part => part > 255)) return undefined
  return parts.reduce((value, part) => value * 256n + BigInt(part), 0n)
}

function parseIpv6(text: string): bigint | undefined {
  // A zone identifies an interface of this machine.
  const [name = ''] = text.split('%', 1)
  const [, head, four] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(name) ?? []
  const last = four === undefined ? undefined : parseIpv4(four)
  if (four !== undefined && last === undefined) return undefined
  const whole = last === undefined ? name : `${head}${(last >> 16n).toString(16)}:${(last & 0xffffn).toString(16)}`
  const halves = whole.split('::')
  if (halves.length > 2) return undefined
  const groups = halves.map(half => (half === '' ? [] : half.split(':')))
  const [before = [], after = []] = groups
  const missing = 8 - before.length - after.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const all = [...before, ...Array<string>(missing).fill('0'), ...after]
  if (all.some(group => !/^[\da-fA-F]{1,4}$/.test(group))) return undefined
  return all.reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n)
}
