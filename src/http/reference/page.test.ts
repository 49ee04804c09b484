import { describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import fc from 'fast-check'
import { formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { listParameters } from '#actions/request/query.ts'
import { byName, count, defineRows, exact, shape, sourced, text } from '#actions/shape/results.ts'
import { parseExact } from '#chain/json.ts'
import { codes } from '../codes.ts'
import { formatMethodTemplate, rpcMethods } from '../rpc-methods.ts'
import { allowBreaks, exampleText, html, listFieldRows } from './action.ts'
import { renderReference } from './page.tsx'
import { prettyJson } from './script.ts'
import { commonParameters, headerTexts, paragraphs } from './text.ts'

const assets = { style: 'style.css', script: 'script.js', theme: 'theme.js', preview: 'preview' }
const page = (lang: 'en' | 'zh', testKey?: string, isExplored = false) =>
  renderReference(actions, {
    lang,
    site: { version: '1.2.3', testKey, isExplored, labels: new Map(), assets },
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
    // Every link within the page has its target.
    expect(all(text, /href="#([^"]+)"/g).filter(target => !anchors.includes(target))).toEqual([])
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

test('fieldsOf: every field has its path, type and texts', () => {
  const schema = shape({
    name: text('Name.', '名称。'),
    rows: defineRows(shape({ n: count('N.', '数。'), extra: Type.Optional(Type.Unknown()) }), 'Rows.', '行。'),
    keyed: byName(shape({ amount: exact('Amount.', '数量。') }), 'By name.', '按名称。'),
    inner: shape({ price: sourced('Price.', '价格。') }),
    tags: defineRows(Type.String(), 'Tags.', '标签。'),
  })
  const rows = listFieldRows(schema).map(({ path, type, optional, exact: isExact, description }) =>
    [path, type, optional ? 'optional' : '', isExact ? 'exact' : '', description?.en, description?.zh].join('|'),
  )
  expect(rows).toEqual([
    ...['name|string|||Name.|名称。', 'rows|array|||Rows.|行。', 'rows[].n|integer|||N.|数。'],
    ...['rows[].extra|any|optional|||', 'keyed|object|||By name.|按名称。'],
    ...['keyed.{}.amount|number||exact|Amount.|数量。', 'inner|object||||'],
    ...['inner.price|number | null||exact|Price.|价格。', 'tags|array|||Tags.|标签。'],
  ])
})

test('exampleText: a short answer is complete; a long list keeps its first rows, and a long text its beginning', () => {
  const short = exampleText('{"data":{"rows":[{"big":9007199254740993}],"total":1}}')
  expect([short.isShorter, short.text]).toEqual([false, expect.stringContaining('"big": 9007199254740993')])
  const rows = Array.from({ length: 50 }, (_, seq) => ({ seq, amount: '1.5', from: 'a', to: 'b', memo: null }))
  const long = exampleText(JSON.stringify({ data: { rows, page: 1, size: 50, total: 99 } }))
  expect(long.isShorter).toBe(true)
  expect(JSON.parse(long.text).data).toEqual({ rows: rows.slice(0, 5), page: 1, size: 50, total: 99 })
  const cut = exampleText(JSON.stringify({ code: `"${'x'.repeat(5_000)}` }))
  expect([cut.isShorter, JSON.parse(cut.text).code]).toEqual([true, `"${'x'.repeat(199)}…`])
})

test('exampleText: any answer gives valid JSON', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5, stringUnit: 'binary' }), json => {
      const { text, isShorter } = exampleText(json)
      expect(() => JSON.parse(text)).not.toThrow()
      if (!isShorter) expect(parseExact(text)).toEqual(parseExact(json))
    }),
  )
})

test('html: inserted values are escaped, HTML is not', () => {
  const bad = `<script>"'&`
  expect(html`<a title="${bad}">${bad}${html`<b>${bad}</b>`}${[html`x`, html`y`]}${7}</a>`.text).toBe(
    '<a title="&lt;script&gt;&quot;&#39;&amp;">&lt;script&gt;&quot;&#39;&amp;<b>&lt;script&gt;&quot;&#39;&amp;</b>xy7</a>',
  )
})

test('allowBreaks: a line may break after dots and slashes, never within a name', () => {
  expect(allowBreaks('a[].b_c.{}.d').text).toBe('a[].<wbr>b_c.<wbr>{}.<wbr>d')
  expect(allowBreaks('/api/x?a=1&b=<2>').text).toBe('/<wbr>api/<wbr>x?<wbr>a=1&amp;<wbr>b=&lt;2&gt;')
})

test('pretty JSON: the result equals that of JSON.stringify, and keeps every digit', () => {
  const value = { a: [1, [], {}, { 'b"{,[': 'c:\\"}' }], '': null, 中文: [true, ''], n: '\\' }
  expect(prettyJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2))
  const text = '{\n  "a": 123456789012345678901.10,\n  "b": [\n    -0.000000001\n  ]\n}'
  expect(prettyJson(text.replaceAll(/\s/g, ''))).toBe(text)
})
