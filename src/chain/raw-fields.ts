import type { Bound } from './bounds.ts'
import { type Fields, type Path, textOf, wrong } from './json-fields.ts'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Bytes as storage forms give them: base64. Throws Failure 'bad_block'. */
// biome-ignore lint/complexity/useMaxParams: read for every field of every block; a record would be one more object a call.
export const base64Of = (fields: Fields, key: string, above: Path, bound?: Bound): Uint8Array => {
  const text = textOf(fields, key, above, bound)
  if (!BASE64.test(text)) throw wrong({ above, key }, text, 'base64')
  return new Uint8Array(Buffer.from(text, 'base64'))
}
