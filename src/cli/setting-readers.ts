import { resolve } from 'node:path'
import { parseIpRange, type Trusted } from '#http/exchange.ts'
import { KEY_MAX_LENGTH } from '#keys/keyring.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#time/clock.ts'

/**
 * Parses the text of a setting. For an invalid text, the caller reports `rule` with the setting's name.
 * Nothing is coerced: `1e3` and ` 2` are not numbers.
 */
export type SettingReader<T> = {
  /** The placeholder for the value in help texts. */
  readonly value: string
  /** Text of the rule, to follow "must be ". */
  readonly rule: string
  /** The value; undefined when the text breaks the rule. */
  readonly read: (text: string) => T | undefined
}

export const count = (least: number, most: number): SettingReader<number> => ({
  value: 'N',
  rule: `a whole number from ${least} to ${most}`,
  read: text => {
    if (!/^\d{1,15}$/.test(text)) return undefined
    const value = Number(text)
    return value >= least && value <= most ? value : undefined
  },
})

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', SECOND_MS],
  ['m', MINUTE_MS],
  ['h', HOUR_MS],
  ['d', DAY_MS],
])

/** A duration, parsed to milliseconds. */
export const duration = (leastMs: number, mostMs: number): SettingReader<number> => ({
  value: 'TIME',
  rule: `a time from ${durationText(leastMs)} to ${durationText(mostMs)}, such as 500ms, 10s, 5m, 12h, 90d`,
  read: text => {
    const [, digits, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
    if (digits === undefined || unit === undefined) return undefined
    const ms = Number(digits) * (UNITS.get(unit) ?? 1)
    return ms >= leastMs && ms <= mostMs ? ms : undefined
  },
})

export function durationOrNever(leastMs: number, mostMs: number): SettingReader<number | 'never'> {
  const { value, rule, read } = duration(leastMs, mostMs)
  return { value, rule: `${rule}, or never`, read: text => (text === 'never' ? 'never' : read(text)) }
}

function durationText(ms: number): string {
  const fitting = [...UNITS].reverse().find(([, length]) => ms % length === 0)
  return fitting === undefined ? `${ms}ms` : `${ms / fitting[1]}${fitting[0]}`
}

/** Accepts the texts of either reader; the first one is tried first. */
export const either = <A, B>(one: SettingReader<A>, other: SettingReader<B>): SettingReader<A | B> => ({
  value: `${one.value}|${other.value}`,
  rule: `${one.rule}, or ${other.rule}`,
  read: text => one.read(text) ?? other.read(text),
})

export const choice = <const C extends string>(value: string, choices: readonly C[]): SettingReader<C> => ({
  value,
  rule: `one of ${choices.join(', ')}`,
  read: text => choices.find(known => known === text),
})

/** A switch; its flag needs no value. */
export const yesNo: SettingReader<boolean> = {
  value: 'BOOL',
  rule: 'true or false',
  read: text => (text === 'true' ? true : text === 'false' ? false : undefined),
}

export const path: SettingReader<string> = {
  value: 'PATH',
  rule: 'a path',
  read: text => (text === '' || text.includes('\0') ? undefined : text),
}

/** One line of text, such as a password. */
export const line: SettingReader<string> = {
  value: 'TEXT',
  rule: 'text without line breaks or other control characters',
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the rule refuses
  read: text => (text === '' || /[\u0000-\u001f\u007f]/.test(text) ? undefined : text),
}

/** A text that needs no escapes in a URL, no longer than the keyring accepts. */
export const testKey: SettingReader<string> = {
  value: 'TEXT',
  rule: `off, or 4 to ${KEY_MAX_LENGTH} of the characters A-Z a-z 0-9 . _ ~ -`,
  read: text => (text === 'off' || (/^[\w.~-]{4,}$/.test(text) && text.length <= KEY_MAX_LENGTH) ? text : undefined),
}

/** Path prefix of all URLs: `""` for none, otherwise without a trailing slash. */
export const basePath: SettingReader<string> = {
  value: '/PATH',
  rule: '/ or a path such as /iost, of the characters A-Z a-z 0-9 . _ ~ - and /',
  read: text =>
    text === '/' || /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+\/?$/.test(text) ? text.replace(/\/$/, '') : undefined,
}

/** The public URL of the service, with a trailing slash. */
export const publicUrl: SettingReader<string> = {
  value: 'URL',
  rule: 'an http:// or https:// URL without user, query or fragment, such as https://iost.example/',
  read: text => {
    const url = httpUrl(text)
    return url === undefined || url.username !== '' || url.password !== '' ? undefined : url.href.replace(/\/?$/, '/')
  },
}

export type Address = { readonly host: string; readonly port: number }

export const address: SettingReader<Address> = {
  value: 'HOST:PORT',
  rule: 'HOST:PORT with a port from 0 to 65535, such as 127.0.0.1:8080 or [::1]:8080',
  read: text => {
    const [, six, name, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text) ?? []
    const host = six ?? name
    if (host === undefined || digits === undefined || Number(digits) > 65_535) return undefined
    return { host, port: Number(digits) }
  },
}

/** A Unix socket, which programs on the same machine reach by the path of its file. */
export type SocketPath = { readonly path: string }

/** The system allows 107 bytes (104 on macOS); a process number is appended for a moment. */
const SOCKET_BYTES = 90

/** The address on which a service listens. */
export const listenAddress: SettingReader<Address | SocketPath> = {
  value: 'HOST:PORT|unix:PATH',
  rule: `${address.rule}, or unix:PATH with a whole path of at most ${SOCKET_BYTES} bytes`,
  read: text => {
    if (!text.startsWith('unix:')) return address.read(text)
    const given = path.read(text.slice('unix:'.length))
    const file = resolve(given ?? '')
    return given === undefined || Buffer.byteLength(file) > SOCKET_BYTES ? undefined : { path: file }
  },
}

/** Access rights of a file, as for `chmod`. */
export const fileMode: SettingReader<number> = {
  value: 'MODE',
  rule: 'access rights as three octal digits, such as 660',
  read: text => (/^[0-7]{3}$/.test(text) ? Number.parseInt(text, 8) : undefined),
}

/** URLs of nodes, and folders or URLs of archives of blocks. */
export const nodeUrls: SettingReader<readonly string[]> = {
  value: 'URL[,URL]',
  rule: 'one or more http:// or https:// URLs without query or fragment (% in a password is written %25), or archive:FOLDER or archive:URL, comma-separated',
  read: text => {
    const urls = text.split(',').map(part => nodeUrl(part.trim()))
    return urls.every(url => url !== undefined) ? urls : undefined
  },
}

function nodeUrl(text: string): string | undefined {
  const place = /^archive:(.+)$/.exec(text)?.[1]
  if (place === undefined || /^https?:/.test(place)) {
    const url = httpUrl(place ?? text)?.href.replace(/\/$/, '')
    return url === undefined || place === undefined ? url : `archive:${url}`
  }
  return path.read(place) === undefined ? undefined : text
}

/** undefined also when the percent-encoded user or password cannot be decoded. */
function httpUrl(text: string): URL | undefined {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  try {
    decodeURIComponent(`${url.username}:${url.password}`)
  } catch {
    return undefined
  }
  return url.search === '' && url.hash === '' ? url : undefined
}

/** Addresses and ranges of trusted proxies; `unix`: all clients of the Unix socket. */
export const proxies: SettingReader<readonly Trusted[]> = {
  value: 'CIDR[,CIDR]',
  rule: 'one or more IP addresses or CIDR ranges, or unix, comma-separated, such as 10.0.0.0/8,fd00::/8',
  read: text => {
    const parts = text.split(',').map(part => part.trim())
    const trusted = parts.map(part => (part === 'unix' ? part : parseIpRange(part)))
    return trusted.every(each => each !== undefined) ? trusted : undefined
  },
}

export const pathOrUrl: SettingReader<{ readonly path: string } | { readonly url: string }> = {
  value: 'PATH|URL',
  rule: 'a path, or an http:// or https:// URL',
  read: text => {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
      return /^https?:\/\//.test(text) && URL.canParse(text) ? { url: text } : undefined
    const file = path.read(text)
    return file === undefined ? undefined : { path: file }
  },
}

export type StoreAddress =
  | { readonly type: 'sqlite'; readonly path: string }
  | {
      readonly type: 'elastic'
      /** URL without credentials and prefix; several hosts of a cluster are separated by commas. */
      readonly url: string
      readonly prefix: string
      readonly user: string | undefined
      readonly password: string | undefined
    }

/** Names of indices are `PREFIX-name`; Elasticsearch requires lower case. */
const PREFIX = /^[a-z0-9][a-z0-9_-]{0,63}$/

export const storeAddress: SettingReader<StoreAddress> = {
  value: 'STORE',
  rule: 'sqlite:PATH, or http(s)://HOST:PORT[,HOST:PORT]/PREFIX with a PREFIX of a-z, 0-9, _ and - (default iostlens; % in a password is written %25)',
  read: text => {
    const file = /^sqlite:(.+)$/.exec(text)?.[1]
    if (file !== undefined) return file.includes('\0') ? undefined : { type: 'sqlite', path: file }
    // Commas before the last @ belong to the password.
    const [, begin = '', hosts = '', end = ''] = /^(https?:\/\/(?:[^/]*@)?)([^/]*)(.*)$/.exec(text) ?? []
    const [first, ...others] = hosts.split(',')
    const url = httpUrl(`${begin}${first}${end}`)
    const further = others.map(host => (/:$/.test(host) ? undefined : httpUrl(`http://${host}`)?.host))
    if (url === undefined || further.includes(undefined)) return undefined
    const parts = url.pathname.split('/').filter(part => part !== '')
    const prefix = parts.pop() ?? 'iostlens'
    if (!PREFIX.test(prefix)) return undefined
    return {
      type: 'elastic',
      url: [[url.origin, ...further].join(','), ...parts].join('/'),
      prefix,
      user: url.username === '' ? undefined : decodeURIComponent(url.username),
      password: url.password === '' ? undefined : decodeURIComponent(url.password),
    }
  },
}
