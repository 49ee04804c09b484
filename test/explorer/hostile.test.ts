import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type Ask, askAtOneHeight, type CallParameters } from '#actions/ask.ts'
import type { Lang, Visit } from '#explorer/page.ts'
import { pages } from '#explorer/pages.ts'
import { Layout } from '#explorer/part/layout.tsx'
import { routeAt } from '#explorer/route.ts'
import { systemClock } from '#time/clock.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { foreignIn } from './parts.ts'
import { readPage } from './read-page.ts'
import { samplePaths } from './samples.ts'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

/** Worse than any text of the recording: it would close its element, run a script, and reverse the following text. */
const HOSTILE = `"'></title></textarea></pre><script>bad()</script><img src=x onerror=bad()><a href=javascript:bad()>\u202e\u0000`

/** Texts that code parses instead of only showing them. */
const READ = /^(?:-?\d+(?:\.\d+)?|\d{4}-\d\d-\d\dT.*Z|\d{4}-\d\d-\d\d|[[{].*)$/s
/** Fields whose text decides what a page shows. */
const DECIDING = new Set(['func_name', 'action_name', 'contract', 'status_code', 'status', 'type'])

/** Makes every text of an answer hostile, and keeps the originals. */
const spoiler = (spares: ReadonlySet<string>) => {
  const were = new Map<string, string>()
  const spoilt = (text: string): string => {
    const hostile = `${HOSTILE}${were.size}`
    were.set(hostile, text)
    return hostile
  }
  const spoil = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') {
      if (/^\[/.test(value) && (key === 'data' || key === 'content')) return JSON.stringify(spoil(listOf(value)))
      return READ.test(value) || spares.has(key) ? value : spoilt(value)
    }
    if (Array.isArray(value)) return value.map(each => spoil(each, key))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, spoil(each, name)]))
  }
  /** The original names in the parameters of a page's next call. */
  const corrected = (given: CallParameters): CallParameters =>
    Object.fromEntries(
      Object.entries(given).map(([name, text]) => [
        name,
        text
          .split(',')
          .map(each => were.get(each) ?? each)
          .join(','),
      ]),
    )
  return { spoil, corrected }
}

const listOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const site = {
  version: '1',
  isExplored: true,
  testKey: undefined,
  labels: new Map(),
  assets: { style: 's', script: 'j', theme: 't' },
}

/** The page that is shown if all texts of the chain are hostile. */
const spoiltPage = async (path: string, lang: Lang, spares: ReadonlySet<string>): Promise<string | undefined> => {
  const deps = {
    store: await loadedStore(),
    node: undefined,
    prices: { get: () => undefined },
    profiles: { get: () => undefined },
    clock: systemClock,
  }
  const { pathname, searchParams: query } = new URL(path, 'http://127.0.0.1')
  const { found: page, id = '', part = '' } = routeAt(pages, pathname) ?? {}
  return askAtOneHeight(
    deps,
    async asking => {
      const { spoil, corrected } = spoiler(spares)
      const ask: Ask = async (action, given = {}) => spoil(await asking.ask(action, corrected(given))) as never
      const visit: Visit = {
        ...{
          site,
          root: '../',
          origin: 'http://127.0.0.1/',
          isOriginKnown: false,
          lang,
          id,
          part,
          query,
          path: pathname,
          now: 0,
          ask,
          peek: ask,
          at: asking.at,
          storage: undefined,
        },
        say: text => text[lang],
      }
      const shown = await page?.show(visit)
      if (shown === undefined || 'to' in shown) return undefined
      return Layout({ frame: { ...visit, height: 1, calls: [] }, shown })
    },
    { signal: AbortSignal.timeout(600_000) },
  )
}

/** Title and description of a page, as written in its HTML. */
const headOf = (html: string) => [
  ...[...html.matchAll(/<title>(.*?)<\/title>/gs)].map(([, text = '']) => text),
  ...[...html.matchAll(/<meta name="description" content="(.*?)"/gs)].map(([, text = '']) => text),
]

/** Whether a text is too long, or contains a line break or an invisible character. */
const unfit = (text: string): boolean => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text) || text.length > 1_000

let paths: readonly string[] = []
beforeAll(async () => {
  paths = await samplePaths(await explorerOn())
})

test.each([
  ['all texts', new Set<string>()],
  ['texts that nothing depends on', DECIDING],
])('hostile: %s of every page are shown, and have no effect', async (_, spares) => {
  let shown = 0
  for (const path of paths)
    for (const lang of ['en', 'zh'] as const) {
      const html = await spoiltPage(path, lang, spares)
      if (html === undefined) continue
      const page = await readPage(html)
      expect([path, foreignIn(page)]).toEqual([path, []])
      expect([path, headOf(html).length, headOf(html).filter(unfit)]).toEqual([path, 2, []])
      // Characters that reverse text or are invisible are written as escapes.
      expect([path, /[\u202e\0]/.test(page.text)]).toEqual([path, false])
      shown += html.includes('bad()') ? 1 : 0
    }
  expect(shown).toBeGreaterThan(paths.length)
})

test('hostile: a text in a request is part of title and description as one line of limited length', async () => {
  const { visit } = await explorerOn()
  for (const text of [`${HOSTILE}\n\u2028\u2066`, 'x'.repeat(6_000), '\u202e'.repeat(600)]) {
    const id = encodeURIComponent(text)
    for (const path of [`/search?text=${id}`, `/account/${id}`, `/tx/${id}`, `/zh/token/${id}`, `/${id}`]) {
      const { html } = await visit(path)
      expect([path.slice(0, 20), headOf(html).length, headOf(html).filter(unfit)]).toEqual([path.slice(0, 20), 2, []])
    }
  }
})
