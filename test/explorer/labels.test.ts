import { beforeAll, expect, test } from 'bun:test'
import { foreignIn } from './read-page.ts'
import { type Explorer, explorerOn } from './served.ts'

const CONTRACT = 'Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW'
const HASH = 'EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e'
const HOSTILE = `"'><script>bad()</script>`

let explorer: Explorer
let hostile: Explorer
beforeAll(async () => {
  const labels = new Map([
    ['busyhub', { en: 'Some Exchange', zh: '某交易所' }],
    [CONTRACT, { en: 'Some Game', zh: '某游戏' }],
    ['prod_01', { en: 'Some Pool', zh: 'Some Pool' }],
    ['not_there', { en: 'Some Nobody', zh: 'Some Nobody' }],
    ['token.iost', { en: 'Some Tokens', zh: 'Some Tokens' }],
  ])
  explorer = await explorerOn({ labels })
  hostile = await explorerOn({
    labels: new Map([...labels.keys()].map(name => [name, { en: HOSTILE, zh: HOSTILE }])),
  })
})

const labelsBehind = (html: string, name: string): readonly string[] =>
  [...html.matchAll(new RegExp(`/${name}"[^>]*><bdi>[^<]*</bdi></a>(.{0,60})`, 'g'))].map(
    ([, rest = '']) => /^ <small class="label(?: given)?"><bdi>([^<]*)</.exec(rest)?.[1] ?? '',
  )

const once = (labels: readonly string[]): readonly string[] => [...new Set(labels)]

test('labels: a label follows its name on every page with that name, in the language of the page', async () => {
  for (const [path, name, en, zh] of [
    [`/tx/${HASH}`, 'busyhub', 'Some Exchange', '某交易所'],
    ['/transactions', 'busyhub', 'Some Exchange', '某交易所'],
    ['/account/user_004', 'busyhub', 'Some Exchange', '某交易所'],
    ['/wealth', 'busyhub', 'Some Exchange', '某交易所'],
    ['/contracts', CONTRACT, 'Some Game', '某游戏'],
    ['/producers', 'prod_01', 'Some Pool', 'Some Pool'],
    ['/account/ram.iost', 'deadaddr', 'burn address', '销毁地址'],
  ] as const) {
    const [pageEn, pageZh] = [await explorer.visit(path), await explorer.visit(`/zh${path}`)]
    expect([path, once(labelsBehind(pageEn.html, name))]).toEqual([path, [en]])
    expect([path, once(labelsBehind(pageZh.html, name))]).toEqual([path, [zh]])
  }
})

test.each([
  ['/account/busyhub', 'Some Exchange', '某交易所'],
  [`/contract/${CONTRACT}`, 'Some Game', '某游戏'],
  ['/producer/prod_01', 'Some Pool', 'Some Pool'],
  // Parts of the chain have a built-in label, unless the operator set another one.
  ['/account/ram.iost', 'RAM market', 'RAM 市场'],
  ['/contract/vote_producer.iost', 'producer elections', ''],
  ['/contract/token.iost', 'Some Tokens', 'Some Tokens'],
])('labels: the page %s has its label in the heading, and a given one in the title', async (path, en, zh) => {
  const [pageEn, pageZh] = [await explorer.visit(path), await explorer.visit(`/zh${path}`)]
  expect([pageEn.heading.includes(en), pageZh.heading.includes(zh)]).toEqual([true, true])
  if (en.startsWith('Some')) expect([pageEn.title.includes(en), pageZh.title.includes(zh)]).toEqual([true, true])
  expect(pageEn.text).not.toContain('token contract')
})

test('labels: the search finds names by their labels, in both languages and in any spelling', async () => {
  for (const [text, path] of [
    ['some exchange', '/account/busyhub'],
    ['某交易所', '/account/busyhub'],
    ['ＳＯＭＥ ＧＡＭＥ', `/contract/${CONTRACT}`],
  ] as const) {
    const { response } = await explorer.visit(`/search?text=${encodeURIComponent(text)}`)
    expect([text, response.headers.get('location')]).toEqual([text, path.slice(1)])
  }
  const { html } = await explorer.visit('/search?text=some')
  const found = ['busyhub', CONTRACT, 'prod_01', 'token.iost', 'not_there'].map(name => html.includes(`/${name}"`))
  // A name that is not on the chain has no page.
  expect(found).toEqual([true, true, true, true, false])
  expect((await explorer.visit('/suggest?text=exch')).html).toContain('data-to="account/busyhub"')
  // A text that is a name finds this name, even if it also matches labels.
  expect((await explorer.visit('/search?text=busyhub')).response.headers.get('location')).toBe('account/busyhub')
})

test('labels: hostile labels have no effect', async () => {
  for (const path of [`/tx/${HASH}`, '/account/busyhub', '/producers', '/search?text=script', '/suggest?text=script']) {
    const page = await hostile.visit(path)
    expect([path, foreignIn(page)]).toEqual([path, []])
    expect([path, page.html.includes('&lt;script>') || page.html.includes('&lt;script&gt;')]).toEqual([path, true])
  }
})
