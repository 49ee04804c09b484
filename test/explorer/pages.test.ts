import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SOAK } from '../support/processes/soak.ts'
import { ROOT } from '../support/root.ts'
import { brokenOf, crawl, filesMissing } from './crawl.ts'
import { foreignIn } from './parts.ts'
import { inChinese, samplePaths } from './samples.ts'
import { type Explorer, explorerOn } from './served.ts'
import { strayFigures } from './stray-figures.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

let explorer: Explorer
let paths: readonly string[] = []
const opened = new Map<string, ReturnType<Explorer['visit']>>()
/** A page as it was when a test first opened it: the tests look at the same pages. */
function visit(path: string): ReturnType<Explorer['visit']> {
  const page = opened.get(path) ?? explorer.visit(path)
  opened.set(path, page)
  return page
}
beforeAll(async () => {
  explorer = await explorerOn()
  paths = await samplePaths(explorer)
})
afterAll(() => opened.clear())

/** The maximum size of a page of the recorded chain before compression. */
const MOST_BYTES = 120_000

test('every page of the explorer: works in both languages, has its own title and no foreign markup', async () => {
  const titles = new Map<string, string>()
  for (const path of [...paths, ...inChinese(paths)]) {
    const { response, html, title, heading, ...page } = await visit(path)
    expect([path, response.status]).toEqual([path, 200])
    const lang = path.startsWith('/zh') ? 'zh-CN' : 'en'
    expect([path, html.includes(`<html lang="${lang}">`), heading === '']).toEqual([path, true, false])
    expect(response.headers.get('content-language')).toBe(lang)
    expect([path, foreignIn({ html, title, heading, ...page })]).toEqual([path, []])
    expect([path, html.length > MOST_BYTES]).toEqual([path, false])
    // A later page of a list has the title of the list.
    if (!path.includes('?')) {
      expect([path, titles.get(title)]).toEqual([path, undefined])
      titles.set(title, path)
    }
  }
})

test('no page leads to a path that the examples of proxies keep for operators', async () => {
  const kept = ['nginx/iostlens.conf', 'nginx/path.conf'].flatMap(name =>
    [...readFileSync(join(ROOT, 'packaging', name), 'utf8').matchAll(/location = (\S+) \{ return 404; \}/g)].map(
      ([, path = '']) => path.replace(/^\/iost/, ''),
    ),
  )
  expect(new Set(kept)).toEqual(new Set(['/metrics', '/status']))
  for (const path of [...paths, ...inChinese(paths), '/docs/en', '/docs/zh', '/nowhere']) {
    const { links } = await visit(path)
    const leading = links.filter(({ href }) => kept.includes(new URL(href, `http://localhost${path}`).pathname))
    expect([path, leading.map(({ href }) => href)]).toEqual([path, []])
  }
})

test('every page of the explorer: has the same figures in Chinese', async () => {
  for (const path of paths) {
    const [en, zh] = [await visit(path), await visit(`/zh${path}`)]
    expect([path, zh.values]).toEqual([path, en.values])
    expect([path, zh.links.length]).toEqual([path, en.links.length])
    expect(zh.text).toMatch(/\p{Script=Han}/u)
  }
})

test('every section of a page has its own id, the same in both languages, and a link to itself', async () => {
  for (const path of paths) {
    const [en, zh] = [await visit(path), await visit(`/zh${path}`)]
    const ids = (html: string) =>
      [...html.matchAll(/<h2([^>]*)>/g)].map(([, at]) => /^ id="([a-z_-]+)"$/.exec(at ?? '')?.[1])
    const named = ids(en.html)
    expect([path, ids(zh.html), new Set(named).size]).toEqual([path, named, named.length])
    for (const id of named) expect([path, id, en.html.split(` id="${id}"`).length]).toEqual([path, id, 2])
    const anchors = [...en.html.matchAll(/<a class="anchor" href="#([^"]*)" aria-label="Link to this section: /g)]
    expect([path, anchors.map(([, id]) => id)]).toEqual([path, named])
  }
})

test('every figure of a page is an answer of the API at that height', async () => {
  let compared = 0
  for (const path of paths) {
    const page = await visit(path)
    expect([path, await strayFigures(explorer, path, page)]).toEqual([path, []])
    compared += page.values.length
  }
  expect(compared).toBeGreaterThan(1_000)
})

test("a transaction's page shows the end of a freeze apart from the memo, and arguments that are times as times", async () => {
  const { transactions } = await explorer.call<{
    readonly transactions: readonly { readonly tx_hash: string; readonly data: readonly unknown[] }[]
  }>('contract/get-contract-tx', { contract: 'token.iost', action_name: 'transferFreeze', size: '500' })
  const { tx_hash = '', data: [, , , , until, memo] = [] } =
    transactions.find(({ data }) => data[5] !== '' && data[5] !== undefined) ?? {}
  expect(typeof memo).toBe('string')
  const { html, text } = await visit(`/tx/${tx_hash}`)
  expect(text).toContain(String(until))
  const iso = new Date(Number(BigInt(String(until)) / 1_000_000n)).toISOString()
  const at = `<span class="when"><time class="at" datetime="${iso}"`
  // The column of the time never contains a memo.
  expect(html).toContain(`<td data-head="Frozen until">${at}`)
  expect(html).toContain(`<data value="${until}" title="${until}">${at}`)
  const memos = [...html.matchAll(/<td data-head="Memo">(.*?)<\/td>/gs)].map(([, cell = '']) => cell)
  expect([memos.length > 0, memos.some(cell => cell.includes('<time'))]).toEqual([true, false])
})

test('the full text behind a shortened one is one link away, and needs no key', async () => {
  const { transactions } = await explorer.call<{
    transactions: readonly { tx_hash: string; status_code: string }[]
  }>('base/get-transaction-list', { size: '500', sort: 'asc' })
  const { tx_hash = '' } = transactions[0] ?? {}
  const { html } = await visit(`/tx/${tx_hash}`)
  expect(html).toContain(`href="../tx/${tx_hash}?raw=1"`)
  const { response } = await visit(`/tx/${tx_hash}?raw=1`)
  const { transaction } = await explorer.call<{ transaction: { hash: string } }>('transaction/get-transaction-detail', {
    tx_hash,
  })
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await response.json()).toEqual(transaction)

  const contract = paths.find(path => path.startsWith('/contract/Contract'))?.slice('/contract/'.length) ?? ''
  const { code } = await explorer.call<{ code: string }>('contract/get-contract-code', { contract })
  const whole = await visit(`/contract/${contract}?raw=1`)
  expect(whole.response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect([await whole.response.text(), code === '']).toEqual([code, false])
})

test('any page of a list can be opened by its number, with the same filters', async () => {
  const { html } = await visit('/account/busyhub?token=iost&from=2026-11-21&page=7')
  const [form = ''] = /<form class="to-page".*?<\/form>/s.exec(html) ?? []
  const [, last = ''] = /name="page"[^>]* max="(\d+)"/.exec(form) ?? []
  const hidden = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, ...pair]) => pair)
  expect(hidden).toEqual([
    ['token', 'iost'],
    ['from', '2026-11-21'],
  ])
  const there = new URLSearchParams([...(hidden as [string, string][]), ['page', last]])
  const { response, text, html: end } = await visit(`/account/busyhub?${there}`)
  expect([response.status, Number(last) > 3]).toEqual([200, true])
  expect(text).toContain(`Page ${Number(last).toLocaleString('en')} of ${Number(last).toLocaleString('en')} ·`)
  expect(end).not.toContain('rel="next"')
  expect((await visit('/producers')).html).not.toContain('class="to-page"')
})

test('every link leads to a page: without a prefix, behind a base path, and behind a proxy that removes a prefix', async () => {
  const all = await crawl({ explorer, most: SOAK ? 12 : 4, from: [...paths, ...inChinese(paths)] })
  // All transactions of the recorded chain are of one day, and too many for a file.
  expect([brokenOf(all), filesMissing(all)]).toEqual([[], ['/transactions.csv']])
  const bad = async (options: Partial<Parameters<typeof crawl>[0]> & { readonly from: readonly string[] }) =>
    brokenOf(await crawl({ explorer, most: 12, ...options }))
  const from = ['/', '/zh/', ...paths.slice(-3)]
  expect(await bad({ from, most: 3, seenAt: '/chain/v1' })).toEqual([])
  const behind = await explorerOn({ basePath: '/iost' })
  const prefixed = { explorer: behind, basePath: '/iost', from, most: 3 }
  expect(await bad({ ...prefixed, seenAt: '/iost' })).toEqual([])
  expect(await bad({ ...prefixed, seenAt: '/proxy/iost' })).toEqual([])
})
