import type { Query } from '#actions/request/query.ts'
import { badRequest, shown } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'

/** Path and query of a request, undecoded. */
type Target = {
  readonly path: string
  /** Text after the `?`, without it; `""` when there is none. */
  readonly query: string
}

/**
 * Splits a request's URL without a parser. When the Host header is missing or invalid, Bun passes a URL that
 * parsers reject (`/api/` alone, `http://[::1/api/`), and such a request has a path all the same.
 */
export function parseTarget(url: string): Target {
  const rest = url.replace(/^https?:\/\/[^/?#]*/i, '')
  const [whole = ''] = rest.split('#', 1)
  const mark = whole.indexOf('?')
  const path = mark === -1 ? whole : whole.slice(0, mark)
  return { path: path === '' ? '/' : path, query: mark === -1 ? '' : whole.slice(mark + 1) }
}

/**
 * The path without the prefix of the service; `""` is the prefix itself, without a trailing slash. A path
 * without the prefix is returned unchanged: no route has it.
 */
export const stripPrefix = (prefix: string, path: string): string =>
  path === prefix || path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path

/**
 * Whether Elysia finds the path in this URL. It searches for the first `/` from character 11 on, so a host of
 * fewer than 4 characters hides the path (`http://a/api/`).
 */
export const isRoutable = (url: string): boolean => /^https?:\/\/[^/?#]{4}/.test(url)

/** Maximum number of parameters, more than any call needs. */
export const MAX_PARAMETERS = 64
/** Maximum bytes of a query. Bun itself answers 431 when all headers together exceed 16 KiB. */
export const MAX_QUERY_BYTES = 8_192

/** The refusal of a URL that is too long; undefined: its length is allowed. */
export function tooLong(path: string, query: string): Failure | undefined {
  const length = Math.max(path.length, query.length)
  if (length <= MAX_QUERY_BYTES) return undefined
  return new Failure('uri_too_long', `The URL has ${length} bytes; the limit is ${MAX_QUERY_BYTES} bytes.`, {
    zh: `URL 长度为 ${length} 字节；上限为 ${MAX_QUERY_BYTES} 字节。`,
  })
}

export type QueryText = {
  /** The parameters in order, decoded, without `apikey`. */
  readonly query: Query
  /** Values of `apikey`, in order. */
  readonly keys: readonly string[]
  /** The syntax error of the query. It is thrown only after the key was accepted, so that a stranger learns nothing. */
  readonly fault: Failure | undefined
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses the raw text of a query: pairs separated by `&`, `+` is a space, percent escapes must be complete
 * and their bytes UTF-8. No input is dropped: text that a lenient parser would accept unchanged is a fault
 * that names the parameter.
 */
export function parseQuery(text: string): QueryText {
  const query: [string, string][] = []
  const keys: string[] = []
  let fault: Failure | undefined
  const pieces = text.split('&').filter(piece => piece !== '')
  if (pieces.length > MAX_PARAMETERS) fault = tooMany(pieces.length)
  for (const piece of pieces) {
    const { name, value } = parsePair(piece)
    if (name === undefined) fault ??= badName(piece.split('=', 1)[0] ?? '')
    else if (name === '') fault ??= noName()
    else if (name === 'apikey') keys.push(value ?? '')
    else if (value === undefined) fault ??= badValue(name)
    else query.push([name, value])
  }
  return { query, keys, fault }
}

/** Name and value of a pair; undefined: it cannot be decoded. The value is "" without a `=`. */
function parsePair(piece: string) {
  const mark = piece.indexOf('=')
  const name = mark === -1 ? piece : piece.slice(0, mark)
  const value = mark === -1 ? '' : piece.slice(mark + 1)
  return /[+%]/.test(piece) ? { name: decoded(name), value: decoded(value) } : { name, value }
}

/** Decodes a text; undefined: a broken escape, or bytes that are not UTF-8. */
function decoded(text: string): string | undefined {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  if (/%(?![0-9A-Fa-f]{2})/.test(spaced)) return undefined
  const bytes: number[] = []
  for (const part of spaced.split(/(%[0-9A-Fa-f]{2})/))
    if (part.startsWith('%')) bytes.push(Number.parseInt(part.slice(1), 16))
    else bytes.push(...new TextEncoder().encode(part))
  try {
    return decoder.decode(Uint8Array.from(bytes))
  } catch {
    return undefined
  }
}

const RULE = {
  en: 'each % must be followed by two hexadecimal digits, and the bytes must be UTF-8',
  zh: '每个 % 后必须是两位十六进制数字，且字节必须是 UTF-8',
}

const badValue = (name: string): Failure =>
  badRequest(
    {
      en: `Parameter ${shown(name)} is not encoded correctly: ${RULE.en}.`,
      zh: `参数 ${shown(name)} 的编码不正确：${RULE.zh}。`,
    },
    { parameter: name },
  )

const badName = (raw: string): Failure =>
  badRequest({
    en: `Parameter name ${shown(raw)} is not encoded correctly: ${RULE.en}.`,
    zh: `参数名 ${shown(raw)} 的编码不正确：${RULE.zh}。`,
  })

const noName = (): Failure =>
  badRequest({ en: 'A parameter has no name before the =.', zh: '有一个参数缺少名称（= 之前为空）。' })

const tooMany = (count: number): Failure =>
  badRequest({
    en: `The query has ${count} parameters; the limit is ${MAX_PARAMETERS}.`,
    zh: `查询字符串中有 ${count} 个参数；上限为 ${MAX_PARAMETERS} 个。`,
  })
