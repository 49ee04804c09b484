import { expect, test } from 'bun:test'
import { nearest, shown } from './refusals.ts'

test.each([
  ['admin', "'admin'"],
  ['', "''"],
  ['a\nb\u0000', "'a\\u{a}b\\u{0}'"],
  ['\u202Ex\u2028', "'\\u{202e}x\\u{2028}'"],
  ['\uD800', "'\\u{d800}'"],
  ['😀'.repeat(70), `'${'😀'.repeat(64)}…'`],
  ['x'.repeat(64), `'${'x'.repeat(64)}'`],
  ['x'.repeat(65), `'${'x'.repeat(64)}…'`],
  ['x'.repeat(100_000), `'${'x'.repeat(64)}…'`],
  [`https://user:${'p'.repeat(500)}@host/path`, "'https://***@host/path'"],
  [`a=1&apikey=${'k'.repeat(500)}`, "'a=1&apikey=***'"],
  [`${'x'.repeat(60)}il_${'k'.repeat(500)}`, `'${'x'.repeat(60)}***'`],
])('shown: %j', (text, expected) => {
  expect(shown(text)).toBe(expected)
})

test('nearest: the name with the fewest edits is chosen, ignoring case, the first one of equals, at most one edit in three letters', () => {
  expect(nearest('PAGES', ['size', 'page'])).toBe('page')
  expect(nearest('xb', ['ab', 'cb'])).toBe('ab')
  expect(nearest('xx', ['ab', 'cd'])).toBeUndefined()
  expect(nearest('offset', ['page', 'size'])).toBeUndefined()
  expect(nearest('tls-cert', ['test-key'])).toBeUndefined()
  expect(nearest('x', [])).toBeUndefined()
  expect(nearest(`page${'y'.repeat(1_000_000)}`, ['page', 'size'])).toBeUndefined()
})
