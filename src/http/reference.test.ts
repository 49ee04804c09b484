import { describe, expect, test } from 'bun:test'
import { actions } from '#actions/registry.ts'
import { parametersOf } from '#actions/request/read.ts'
import { codes } from './codes.ts'
import { exampleUrl } from './example.ts'
import { openapiFor, schemaName } from './openapi.ts'
import { referenceFor } from './reference.ts'
import { commonParameters, headerTexts, paragraphs, words } from './reference-text.ts'
import { rpcMethods, rpcUnavailable, templateOf } from './rpc-methods.ts'
import { fieldsOf } from './schema-fields.ts'

const page = (lang: 'en' | 'zh', testKey?: string) =>
  referenceFor(actions, { lang, version: '1.2.3', testKey })
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(match => match[1] ?? '')
const anchorsOf = (text: string) => all(text, /\bid="([^"]+)"/g)
/** The code words that begin the rows of tables: parameters, fields, headers, paths. */
const namesOf = (text: string) => all(text, /<tr><td><code[^>]*>([^<]+)<\/code>/g)

describe('reference', () => {
  test('both languages describe the same interface', () => {
    expect(anchorsOf(page('zh'))).toEqual(anchorsOf(page('en')))
    expect(namesOf(page('zh'))).toEqual(namesOf(page('en')))
    const hrefs = (text: string) => all(text, /href="([^"]+)"/g).filter(href => !href.startsWith('/docs/'))
    expect(hrefs(page('zh', 'k'))).toEqual(hrefs(page('en', 'k')))
  })

  test('every action with its parameters and fields, every code and node method', () => {
    const text = page('en')
    const anchors = anchorsOf(text)
    expect(new Set(anchors).size).toBe(anchors.length)
    for (const action of actions) {
      expect(anchors).toContain(action.action)
      const article = text.slice(text.indexOf(`<article id="${action.action}">`)).split('</article>')[0] ?? ''
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
    for (const target of all(page('en'), /href="#([^"]+)"/g)) expect(anchors).toContain(target)
  })

  test('needs nothing from anywhere', () => {
    for (const lang of ['en', 'zh'] as const)
      expect(page(lang, 'k')).not.toMatch(/<(?:script|link|img|iframe)|https?:\/\/|@import|url\(/)
  })

  test('calls are linked only with a shared test key, which is escaped', () => {
    expect(page('en')).not.toContain('href="/api/')
    const text = page('en', `a"b&c<d`)
    expect(all(text, /href="(\/api\/[^"]+)"/g)[0]).toBe(
      '/api/?apikey=a%22b%26c%3Cd&amp;module=base&amp;action=get-overview',
    )
    expect(text).not.toContain('c<d')
  })

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
    expect(page('zh').replaceAll(/<[^>]*>/g, '')).not.toMatch(
      /[。，；：] |[\p{Script=Han}。] ?\(|\) ?\p{Script=Han}/u,
    )
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

describe('openapi', () => {
  const document = JSON.parse(JSON.stringify(openapiFor(actions, '1.2.3')))

  test('every action, parameter, node method and status is there', () => {
    const { parameters, responses, 'x-actions': listed } = document.paths['/api/'].get
    const names: string[] = parameters.map(({ name }: { name: string }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { params } of actions)
      for (const { name } of parametersOf(params)) expect(names).toContain(name)
    expect(names).toEqual(expect.arrayContaining(['module', 'action', 'lang', 'format', 'compat', 'numbers']))
    expect(
      listed.map(({ action, example }: { action: string; example: string }) => [action, example]),
    ).toEqual(actions.map(action => [action.action, exampleUrl(action)]))
    expect(Object.keys(document.components.schemas)).toEqual([...actions.map(schemaName), 'Error'])
    expect(Object.keys(responses)).toEqual([
      '200',
      '304',
      '400',
      '401',
      '403',
      '404',
      '405',
      '414',
      '429',
      '500',
      '503',
      '504',
    ])
    expect(Object.keys(document.paths)).toEqual([
      '/api/',
      ...rpcMethods.map(templateOf),
      ...rpcUnavailable.map(name => `/rpc/${name}`),
      '/health',
      '/ready',
    ])
  })

  test('the same fields as the reference', () => {
    for (const action of actions)
      expect(fieldsOf(document.components.schemas[schemaName(action)])).toEqual(fieldsOf(action.result))
  })

  test('a parameter says which actions need it', () => {
    const parameter = (name: string) =>
      document.paths['/api/'].get.parameters.find((one: { name: string }) => one.name === name)
    expect(parameter('tx_hash').description).toEndWith(
      'Required for get-transaction-detail, get-transaction-action, get-transaction-receipt.',
    )
    expect(parameter('account').description).toContain('Optional for get-producer-voter.')
    expect(parameter('size').examples['get-account-tx']).toEqual({ value: '5' })
    expect(parameter('page').schema.anyOf ?? [parameter('page').schema]).toContainEqual({
      type: 'integer',
      minimum: 0,
      default: 1,
    })
  })

  test('every reference leads somewhere', () => {
    for (const path of all(JSON.stringify(document), /"\$ref":"#\/([^"]+)"/g))
      expect(path.split('/').reduce((at, name) => at?.[name], document)).toBeDefined()
  })
})
