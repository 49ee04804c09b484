import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { foreignIn } from './parts.ts'
import { readPage } from './read-page.ts'
import { samplePaths } from './samples.ts'
import { explorerOn } from './served.ts'
import { DECIDING, spoiltPage } from './spoilt-page.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

/** Worse than any text of the recording: it would close its element, run a script, and reverse the following text. */
const HOSTILE = `"'></title></textarea></pre><script>bad()</script><img src=x onerror=bad()><a href=javascript:bad()>\u202e\u0000`

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
      let number = 0
      // Arguments that are numbers keep their value.
      const spoil = (text: string) => (/^-?\d+(?:\.\d+)?$/.test(text) ? text : `${HOSTILE}${number++}`)
      const html = await spoiltPage(path, { lang, spoil, spares })
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
