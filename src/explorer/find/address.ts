import { isContractId } from '#chain/names.ts'
import { decoded } from '../decoded.ts'
import type { Reading } from './reading.ts'

/**
 * The kind that the segment before an id names, in addresses of this and other explorers: `/account/x`,
 * `/#/txDetail/x`.
 */
const KINDS = [
  [/^block(?:s|detail)?$/i, 'block'],
  [/^(?:tx|transaction)(?:s|detail)?$/i, 'transaction'],
  [/^(?:account|address)(?:s|es|detail)?$/i, 'account'],
  [/^contract(?:s|detail)?$/i, 'contract'],
  [/^token(?:s|detail)?$/i, 'token'],
  [/^(?:producer|node|vote)(?:s|detail)?$/i, 'producer'],
  [/^nft$/i, 'collection'],
] as const

/** The names in a page's address; none: the text is not an address, or its page is not about a thing. */
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
  // `token.iost/transfer` is an action of a contract, in the form that rows show.
  const host = !hasScheme && isContractId(url.hostname) ? [url.hostname] : []
  const ids = [...host, ...values.slice(0, MOST_VALUES), ...segments.slice(-1)]
  return ids.map(id => ({ text: id }))
}

const MOST_VALUES = 2
