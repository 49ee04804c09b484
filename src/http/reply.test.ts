import { expect, test } from 'bun:test'
import { acceptsGzip, computeEtag, matchingTag, toGzipEtag } from './reply.ts'

const bytes = new TextEncoder().encode('{"code":0}')

test('etagOf: the tag is strong, and equal only for equal bytes', () => {
  expect(computeEtag(bytes)).toMatch(/^"[\w-]{22}"$/)
  expect(computeEtag(bytes)).toBe(computeEtag(bytes.slice()))
  expect(computeEtag(bytes)).not.toBe(computeEtag(new TextEncoder().encode('{"code":1}')))
  expect(toGzipEtag('"abc"')).toBe('"abc-gzip"')
})

const PLAIN = '"abc"'
const GZIP = '"abc-gzip"'
const headers: readonly (readonly [header: string, sent: string, known: string | undefined])[] = [
  ['', PLAIN, undefined],
  [PLAIN, PLAIN, PLAIN],
  ['W/"abc"', PLAIN, PLAIN],
  [GZIP, PLAIN, GZIP],
  [GZIP, GZIP, GZIP],
  [PLAIN, GZIP, PLAIN],
  [`${PLAIN}, ${GZIP}`, GZIP, GZIP],
  [`${GZIP}, ${PLAIN}`, PLAIN, PLAIN],
  ['*', PLAIN, PLAIN],
  [' * ', GZIP, GZIP],
  ['"x", "abc"', PLAIN, PLAIN],
  ['"x",W/"abc" , "y"', PLAIN, PLAIN],
  ['"a,b", "c"', PLAIN, undefined],
  ['"x,"abc"', PLAIN, undefined],
  ['abc', PLAIN, undefined],
  ['"ABC"', PLAIN, undefined],
  ['"abc', PLAIN, undefined],
]
test.each(headers)('matchingTag: %s for %s', (header, sent, known) => {
  expect(matchingTag(header, sent, PLAIN)).toBe(known)
})

const codings: readonly (readonly [header: string, gzip: boolean])[] = [
  ['', false],
  ['gzip', true],
  ['GZIP', true],
  ['deflate, gzip;q=1.0, *;q=0.5', true],
  ['gzip;q=0', false],
  ['gzip;q=0, *', false],
  ['*', true],
  ['*;q=0', false],
  ['br', false],
  ['gzip;q=x', false],
]
test.each(codings)('acceptsGzip: %s', (header, gzip) => {
  expect(acceptsGzip(header)).toBe(gzip)
})
