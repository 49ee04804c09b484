import { isContractId } from '#chain/names.ts'
import { decoded } from '../decoded.ts'
import type { Reading } from './reading.ts'

/** What the segment before an id says of it, as addresses of this and other explorers do: `/account/x`, `/#/txDetail/x`. */
const KINDS = [
  [/^block(?:s|detail)?$/i, 'block'],
  [/^(?:tx|transaction)(?:s|detail)?$/i, 'transaction'],
  [/^(?:account|address)(?:s|es|detail)?$/i, 'account'],
  [/^contract(?:s|detail)?$/i, 'contract'],
  [/^token(?:s|detail)?$/i, 'token'],
  [/^(?:producer|node|vote)(?:s|detail)?$/i, 'producer'],
  [/^nft$/i, 'collection'],
] as const

/** What the address of a page names; none: the text is no address, or is that of no thing. */
export const readingsOfAddress = (text: string): readonly Reading[] => {
  const hasScheme = /^https?:\/\//i.test(text)
  if (!hasScheme && !text.includes('/')) return []
  const url = URL.parse(hasScheme ? text : `https://${text.startsWith('/') ? 'host' : ''}${text}`)
  if (url === null) return []
  const [own = '', query = ''] = url.hash.replace(/^#!?/, '').split('?', 2)
  const segments = `${url.pathname}/${own}`
    .split('/')
    .map(decoded)
    .filter(each => each !== '')
  for (const [at, segment] of segments.entries()) {
    const id = segments[at + 1]
    const kind = KINDS.find(([form]) => form.test(segment))?.[1]
    if (kind !== undefined && id !== undefined) return [{ text: id, kind }]
  }
  const values = [...url.searchParams.values(), ...new URLSearchParams(query).values()]
  // `token.iost/transfer` is an action of a contract, as rows name it.
  const host = !hasScheme && isContractId(url.hostname) ? [url.hostname] : []
  const ids = [...host, ...values.slice(0, MOST_VALUES), ...segments.slice(-1)]
  return ids.map(id => ({ text: id }))
}

const MOST_VALUES = 2
