import { expect, test } from 'bun:test'
import { acceptsGzip, etagOf, gzipTagOf, isKnownTag } from './etag.ts'

const bytes = new TextEncoder().encode('{"code":0}')

test('etagOf: strong, the same for the same bytes only', () => {
  expect(etagOf(bytes)).toMatch(/^"[\w-]{22}"$/)
  expect(etagOf(bytes)).toBe(etagOf(bytes.slice()))
  expect(etagOf(bytes)).not.toBe(etagOf(new TextEncoder().encode('{"code":1}')))
  expect(gzipTagOf('"abc"')).toBe('"abc-gzip"')
})

const headers: readonly (readonly [header: string | null, known: boolean])[] = [
  [null, false],
  ['', false],
  ['"abc"', true],
  ['W/"abc"', true],
  ['"abc-gzip"', true],
  ['*', true],
  [' * ', true],
  ['"x", "abc"', true],
  ['"x",W/"abc" , "y"', true],
  ['"a,b", "c"', false],
  ['"x,"abc"', false],
  ['abc', false],
  ['"ABC"', false],
  ['"abc', false],
]
for (const [header, known] of headers)
  test(`isKnownTag: ${header}`, () => expect(isKnownTag(header, '"abc"')).toBe(known))

const codings: readonly (readonly [header: string | null, gzip: boolean])[] = [
  [null, false],
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
for (const [header, gzip] of codings)
  test(`acceptsGzip: ${header}`, () => expect(acceptsGzip(header)).toBe(gzip))
