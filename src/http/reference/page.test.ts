import { describe, expect, test } from 'bun:test'
import { nameOf } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { parametersOf } from '#actions/request/query.ts'
import { codes } from '../codes.ts'
import { rpcMethods, templateOf } from '../rpc-methods.ts'
import { referenceFor } from './page.ts'
import { fieldsOf } from './schema-fields.ts'
import { commonParameters, headerTexts, paragraphs, words } from './text.ts'

const page = (lang: 'en' | 'zh', testKey?: string) =>
  referenceFor(actions, {
    lang,
    version: '1.2.3',
    testKey,
    defaults: { format: 'envelope', compat: 'none' },
    examples: new Map(),
  })
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(match => match[1] ?? '')
const anchorsOf = (text: string) => all(text, /\bid="([^"]+)"/g)
/** The names that are explained: parameters, fields, headers, paths. A line may end within them. */
const namesOf = (text: string) => all(text.replaceAll('<wbr>', ''), /<dt><code>([^<]+)<\/code>/g)

describe('reference', () => {
  test('both languages describe the same interface', () => {
    expect(anchorsOf(page('zh'))).toEqual(anchorsOf(page('en')))
    expect(namesOf(page('zh'))).toEqual(namesOf(page('en')))
    const hrefs = (text: string) =>
      all(text, /href="([^"]+)"/g).filter(href => href !== 'en' && href !== 'zh')
    expect(hrefs(page('zh', 'k'))).toEqual(hrefs(page('en', 'k')))
  })

  test('every action with its parameters and fields, every code and node method', () => {
    const text = page('en')
    const anchors = anchorsOf(text)
    expect(new Set(anchors).size).toBe(anchors.length)
    for (const action of actions) {
      expect(anchors).toContain(action.action)
      const article =
        text.slice(text.indexOf(`<article id="${nameOf(action)}">`)).split('</article>')[0] ?? ''
      expect(namesOf(article)).toEqual([
        ...parametersOf(action.params).map(({ name }) => name),
        ...fieldsOf(action.result).map(({ path }) => path),
      ])
    }
    for (const { code } of Object.values(codes)) expect(anchors).toContain(`code-${code}`)
    for (const method of rpcMethods) expect(namesOf(text)).toContain(templateOf(method))
  })

  test('every link within the page has its place', () => {
    const anchors = new Set(anchorsOf(page('en')))
    const targets = new Set(all(page('en'), /href="#([^"]+)"/g))
    expect([...targets].filter(target => !anchors.has(target))).toEqual([])
  })

  test('needs nothing from anywhere: its links are its own, relative, and carry no key', () => {
    for (const lang of ['en', 'zh'] as const) {
      const text = page(lang, 'the-key')
      expect(text).not.toMatch(/<(?:script|img|iframe)[^>]+src|https?:\/\/|@import|url\(/)
      for (const link of all(text, /(?:href|data-path)="([^"]+)"/g)) {
        expect(link).toMatch(/^(?:#|\.\.\/|en$|zh$)/)
        expect(link).not.toContain('the-key')
      }
    }
  })

  test('the shared test key stands in the field of the forms only, escaped', () => {
    expect(page('en')).toContain('aria-describedby="key-note" value=""')
    const text = page('en', `a"b&c<d`)
    expect(text.split('a&quot;b&amp;c&lt;d').length).toBe(2)
    expect(text).toContain('aria-describedby="key-note" value="a&quot;b&amp;c&lt;d"')
  })
})

describe('texts of the reference', () => {
  test('Chinese texts are Chinese', () => {
    const texts = [
      ...Object.values(paragraphs).flat(),
      ...headerTexts.map(([, text]) => text),
      ...commonParameters.map(([, , text]) => text),
      ...actions.flatMap(({ title, summary }) => [title, summary]),
      ...rpcMethods.map(({ title }) => title),
      ...actions.flatMap(({ params }) =>
        parametersOf(params).flatMap(({ word }) => [word.description, word.rule]),
      ),
    ]
    for (const { en, zh } of texts) {
      expect(en).not.toMatch(/\p{Script=Han}/u)
      if (/\s/.test(en)) expect(zh).toMatch(/\p{Script=Han}|^desc /u)
    }
    expect(words.title.zh).toBe('iostlens 接口文档')
  })

  test('in Chinese a node is 全节点 and a producer 生产者; brackets are full width, and no blank follows a full stop', () => {
    expect(page('zh')).not.toMatch(/(?<!全|出块)节点/)
    const texts = page('zh').replaceAll(/<(style|script)>.*?<\/\1>|<[^>]*>/gs, '')
    expect(texts.match(/.{0,20}(?:[。，；：] |[\p{Script=Han}。] ?\(|\) ?\p{Script=Han}).{0,20}/u)).toBeNull()
  })

  test('every field is described in both languages', () => {
    const silent = actions.flatMap(({ action, result }) =>
      fieldsOf(result)
        .filter(({ description }) => description === undefined)
        .map(({ path }) => `${action} ${path}`),
    )
    expect(silent).toEqual([])
  })
})
