import { expect, test } from 'bun:test'
import { readOptions, selectLanguage } from './options.ts'
import { nearest, shown } from './refusals.ts'

test('readOptions: the request overrides the defaults of the server', () => {
  const defaults = { format: 'bare', compat: 'iostabc' } as const
  expect(readOptions([], { defaults })).toEqual({ ...defaults, lang: 'en', numbers: 'number' })
  const asked = { lang: 'zh', format: 'envelope', compat: 'none', numbers: 'string' } as const
  expect(readOptions(Object.entries(asked), { defaults })).toEqual(asked)
})

test.each<readonly [string | undefined, 'en' | 'zh', lang?: string]>([
  [undefined, 'en'],
  ['', 'en'],
  ['zh', 'zh'],
  ['zh-CN,zh;q=0.9,en;q=0.8', 'zh'],
  ['en-US,en;q=0.9,zh;q=0.8', 'en'],
  ['en;q=0.5, zh;q=0.6', 'zh'],
  ['fr-FR, zh-Hans;q=0.4', 'zh'],
  ['fr, *;q=0.1', 'en'],
  ['zh;q=0', 'en'],
  ['zh;q=abc', 'en'],
  ['zhx', 'en'],
  ['ZH-tw', 'zh'],
  // A usable lang in the query takes precedence, an unusable one is ignored.
  ['zh', 'en', 'en'],
  ['zh', 'zh', 'fr'],
])('selectLanguage: Accept-Language %p is %p', (...[header, expected, lang]) => {
  expect(selectLanguage(lang === undefined ? [] : [['lang', lang]], header)).toBe(expected)
})

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
