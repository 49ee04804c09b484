import { describe, expect, test } from 'bun:test'
import { formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { listParameters } from '#actions/request/query.ts'
import { codes } from '../codes.ts'
import { formatMethodTemplate, rpcMethods } from '../rpc-methods.ts'
import { listFieldRows } from './action.ts'
import { renderReference } from './page.tsx'
import { commonParameters, headerTexts, paragraphs, words } from './text.ts'

const page = (lang: 'en' | 'zh', testKey?: string, isExplored = false) =>
  renderReference(actions, {
    lang,
    site: {
      ...{ version: '1.2.3', testKey, isExplored, labels: new Map() },
      assets: { style: 'style.css', script: 'script.js', theme: 'theme.js', preview: 'preview' },
    },
    files: { style: 'reference.css', script: 'reference.js' },
    defaults: { format: 'envelope', compat: 'none' },
    examples: new Map(),
  })
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(match => match[1] ?? '')
const anchorsOf = (text: string) => all(text, /\bid="([^"]+)"/g)
/** The explained names: parameters, fields, headers, paths. A line break may be inside a name. */
const namesOf = (text: string) => all(text.replaceAll('<wbr>', ''), /<dt><code>([^<]+)<\/code>/g)

describe('reference', () => {
  test('both languages describe the same interface', async () => {
    const [en, zh] = [await page('en', 'k'), await page('zh', 'k')]
    expect(anchorsOf(zh)).toEqual(anchorsOf(en))
    expect(namesOf(zh)).toEqual(namesOf(en))
    const hrefs = (text: string) =>
      all(text, /href="([^"]+)"/g).map(href => href.replace(/(?<=^|\/|=)(?:en|zh)$/, 'LANG'))
    expect(hrefs(zh)).toEqual(hrefs(en))
  })

  test('every action has its parameters and fields, and every code and node method is included', async () => {
    const text = await page('en')
    const anchors = anchorsOf(text)
    expect(new Set(anchors).size).toBe(anchors.length)
    for (const action of actions) {
      expect(anchors).toContain(action.action)
      const article =
        text.slice(text.indexOf(`<article id="${formatActionName(action)}">`)).split('</article>')[0] ?? ''
      expect(namesOf(article)).toEqual([
        ...listParameters(action.params).map(({ name }) => name),
        ...listFieldRows(action.result).map(({ path }) => path),
      ])
    }
    for (const { code } of Object.values(codes)) expect(anchors).toContain(`code-${code}`)
    for (const method of rpcMethods) expect(namesOf(text)).toContain(formatMethodTemplate(method))
  })

  test('every link within the page has its target', async () => {
    const text = await page('en')
    const anchors = new Set(anchorsOf(text))
    const targets = new Set(all(text, /href="#([^"]+)"/g))
    expect([...targets].filter(target => !anchors.has(target))).toEqual([])
  })

  test('no other resource is loaded: links are internal, relative, and contain no key', async () => {
    for (const lang of ['en', 'zh'] as const) {
      const text = await page(lang, 'the-key')
      expect(text).not.toMatch(/<(?:img|iframe|style)|<script>|https?:\/\/|@import|url\(/)
      for (const link of all(text, /(?:href|data-path|src|action)="([^"]+)"/g)) {
        expect(link).toMatch(/^(?:#|\.\.\/|en$|zh$)/)
        expect(link).not.toContain('the-key')
      }
    }
  })

  test('there is a link to the explorer only if the service has one', async () => {
    const ways = ['action="../search"', 'href="../blocks"', 'href="../statistics"']
    const [alone, explored] = [await page('en'), await page('en', undefined, true)]
    for (const way of ways) expect([alone.includes(way), explored.includes(way)]).toEqual([false, true])
    expect(await page('zh', undefined, true)).toContain('href="../zh/blocks"')
  })

  test('the shared test key is only in the field of the forms, escaped', async () => {
    expect(await page('en')).toContain('aria-describedby="key-note" value=""')
    const text = await page('en', `a"b&c<d`)
    expect(text.split('a&quot;b&amp;c&lt;d').length).toBe(2)
    expect(text).toContain('aria-describedby="key-note" value="a&quot;b&amp;c&lt;d"')
  })
})

describe('texts of the reference', () => {
  test('Chinese texts are in Chinese, and English texts in English', () => {
    const texts = [
      ...Object.values(paragraphs).flat(),
      ...headerTexts.map(([, text]) => text),
      ...commonParameters.map(([, , text]) => text),
      ...actions.flatMap(({ title, summary }) => [title, summary]),
      ...rpcMethods.map(({ title }) => title),
      ...actions.flatMap(({ params }) => listParameters(params).flatMap(({ spec }) => [spec.description, spec.rule])),
    ]
    for (const { en, zh } of texts) {
      expect(en).not.toMatch(/\p{Script=Han}/u)
      if (/\s/.test(en)) expect(zh).toMatch(/\p{Script=Han}|^desc /u)
    }
    expect(words.title.zh).toBe('iostlens 接口文档')
  })

  test('in Chinese a node is 全节点 and a producer 生产者; brackets are full width, and no space follows a full stop', async () => {
    expect(await page('zh')).not.toMatch(/(?<!全|出块)节点/)
    const texts = (await page('zh')).replaceAll(/<(style|script)>.*?<\/\1>|<[^>]*>/gs, '')
    expect(texts.match(/.{0,20}(?:[。，；：] |[\p{Script=Han}。] ?\(|\) ?\p{Script=Han}).{0,20}/u)).toBeNull()
  })

  test('every field is described in both languages', () => {
    const silent = actions.flatMap(({ action, result }) =>
      listFieldRows(result)
        .filter(({ description }) => description === undefined)
        .map(({ path }) => `${action} ${path}`),
    )
    expect(silent).toEqual([])
  })
})
