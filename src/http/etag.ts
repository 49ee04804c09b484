import { hash } from 'node:crypto'

/** Entity tags and content codings of answers (RFC 9110 8.8.3, 12.5.3, 13.1.2). */

/** 128 of SHA-256's 256 bits: two bodies never share a tag by accident. */
const TAG_LETTERS = 22

/** Strong tag of a body's bytes, with its quotes. A text stands for its UTF-8. */
export const etagOf = (body: Uint8Array | string): string =>
  `"${hash('sha256', body, 'base64url').slice(0, TAG_LETTERS)}"`

/** The tag of the same body sent as gzip: other bytes on the wire, so another strong tag. */
export const gzipTagOf = (etag: string): string => `${etag.slice(0, -1)}-gzip"`

/**
 * The tag that the asker has by its `If-None-Match`, which names the body plain or as gzip: `etag` of what would be sent
 * where that is among them, else the other one of `plain`. Compared weakly, as the header asks. undefined: none.
 */
export const knownTag = (header: string | null, etag: string, plain: string): string | undefined => {
  if (header === null) return undefined
  if (header.trim() === '*') return etag
  const tags = (header.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g) ?? []).map(tag =>
    tag.replace(/^W\//, ''),
  )
  return [etag, plain, gzipTagOf(plain)].find(tag => tags.includes(tag))
}

/** Whether `Accept-Encoding` allows gzip: named with a weight above 0, or by `*` when not named. */
export const acceptsGzip = (header: string | null): boolean => {
  const weights = new Map<string, number>()
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map(text => text.trim())
    const weight = parameters.find(text => text.startsWith('q='))?.slice(2)
    weights.set(coding, weight === undefined ? 1 : Number(weight))
  }
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}
