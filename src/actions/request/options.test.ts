import { describe, expect, test } from 'bun:test'
import { refusal } from '#test/support/refusal.ts'
import { readOptions, selectLanguage } from './options.ts'
import type { Query } from './query.ts'

const defaults = { format: 'envelope', compat: 'none' } as const
const read = (query: Query, acceptLanguage?: string) => readOptions(query, { acceptLanguage, defaults })

describe('readOptions', () => {
  test('readOptions: the server’s defaults apply', () => {
    expect(read([])).toEqual({ lang: 'en', format: 'envelope', compat: 'none', numbers: 'number' })
    expect(readOptions([], { defaults: { format: 'bare', compat: 'iostabc' } })).toEqual({
      lang: 'en',
      format: 'bare',
      compat: 'iostabc',
      numbers: 'number',
    })
  })
  test('readOptions: the request overrides the defaults', () => {
    const query: Query = [
      ['lang', 'zh'],
      ['format', 'bare'],
      ['compat', 'iostabc'],
      ['numbers', 'string'],
    ]
    expect(read(query)).toEqual({ lang: 'zh', format: 'bare', compat: 'iostabc', numbers: 'string' })
  })
  const bad: readonly (readonly [Query, string, string])[] = [
    [
      [['lang', 'fr']],
      "Parameter 'lang' is 'fr'; it must be en or zh.",
      "参数 'lang' 的值为 'fr'；取值须为：en 或 zh。",
    ],
    [
      [['format', 'xml']],
      "Parameter 'format' is 'xml'; it must be envelope, bare, ndjson, csv or sse.",
      "参数 'format' 的值为 'xml'；取值须为：envelope、bare、ndjson、csv 或 sse。",
    ],
    [
      [['compat', '']],
      "Parameter 'compat' is ''; it must be none or iostabc.",
      "参数 'compat' 的值为 ''；取值须为：none 或 iostabc。",
    ],
    [
      [['numbers', 'String']],
      "Parameter 'numbers' is 'String'; it must be number or string.",
      "参数 'numbers' 的值为 'String'；取值须为：number 或 string。",
    ],
    [
      [
        ['format', 'bare'],
        ['format', 'bare'],
      ],
      "Parameter 'format' is given 2 times; give it once.",
      "参数 'format' 出现了 2 次，只能提供一次。",
    ],
  ]
  test.each(bad)('readOptions: refuses %j', async (query, en, zh) => {
    expect(await refusal((async () => read(query))())).toEqual({ kind: 'bad_request', en, zh })
  })
})

describe('selectLanguage', () => {
  test.each<readonly [string | undefined, 'en' | 'zh']>([
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
  ])('languageFor: Accept-Language %p is %p', (header, lang) => {
    expect(selectLanguage([], header)).toBe(lang)
  })
  test('readOptions: a usable lang in the query takes precedence, an unusable one is ignored', () => {
    expect(selectLanguage([['lang', 'en']], 'zh')).toBe('en')
    expect(selectLanguage([['lang', 'fr']], 'zh')).toBe('zh')
  })
})
