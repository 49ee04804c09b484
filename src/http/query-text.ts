import type { Query } from '#actions/request/query.ts'
import { badRequest, shown } from '#actions/request/refusals.ts'
import type { Failure } from '#failure/failure.ts'

/** More than any call needs; a longer list is no honest one. */
export const MAX_PARAMETERS = 64
/** Longest query in bytes that is read. Bun itself answers 431 when all headers together pass 16 KiB. */
export const MAX_QUERY_BYTES = 8_192

export type QueryText = {
  /** In order, decoded, without `apikey`. */
  readonly query: Query
  /** Values of `apikey`, in order. */
  readonly keys: readonly string[]
  /** What is wrong with the text. Thrown only after the key was accepted, so that a stranger learns nothing. */
  readonly fault: Failure | undefined
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads the raw text of a query: pairs between `&`, `+` is a space, percent escapes must be whole and their bytes
 * UTF-8. Nothing is dropped: what a lenient parser would let pass as text is a fault that names the parameter.
 */
export const parseQuery = (text: string): QueryText => {
  const query: [string, string][] = []
  const keys: string[] = []
  let fault: Failure | undefined
  const pieces = text.split('&').filter(piece => piece !== '')
  if (pieces.length > MAX_PARAMETERS) fault = tooMany(pieces.length)
  for (const piece of pieces) {
    const [rawName, rawValue] = partsOf(piece)
    const name = decoded(rawName)
    const value = decoded(rawValue)
    if (name === undefined) fault ??= badName(rawName)
    else if (name === '') fault ??= noName()
    else if (name === 'apikey') keys.push(value ?? '')
    else if (value === undefined) fault ??= badValue(name)
    else query.push([name, value])
  }
  return { query, keys, fault }
}

/** Name and value of a pair as they were sent; the value is "" without a `=`. */
const partsOf = (piece: string): readonly [name: string, value: string] => {
  const mark = piece.indexOf('=')
  return mark === -1 ? [piece, ''] : [piece.slice(0, mark), piece.slice(mark + 1)]
}

/** undefined: a broken escape, or bytes that are not UTF-8. */
const decoded = (text: string): string | undefined => {
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
