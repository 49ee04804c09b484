/** Entity tags and content codings of answers (RFC 9110 8.8.3, 12.5.3, 13.1.2). */

/** 128 of SHA-256's 256 bits: two bodies never share a tag by accident. */
const TAG_LETTERS = 22

/** Strong tag of a body's bytes, with its quotes. */
export const etagOf = (body: Uint8Array): string =>
  `"${new Bun.CryptoHasher('sha256').update(body).digest('base64url').slice(0, TAG_LETTERS)}"`

/** The tag of the same body sent as gzip: other bytes on the wire, so another strong tag. */
export const gzipTagOf = (etag: string): string => `${etag.slice(0, -1)}-gzip"`

/** Whether `If-None-Match` names the body, plain or as gzip; compared weakly, as the header asks. */
export const isKnownTag = (header: string | null, etag: string): boolean => {
  if (header === null) return false
  if (header.trim() === '*') return true
  const tags = header.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g) ?? []
  return tags.some(tag => [etag, gzipTagOf(etag)].includes(tag.replace(/^W\//, '')))
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
