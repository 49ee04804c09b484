import { readFileSync } from 'node:fs'
import type { Page } from './page.ts'

type Options = {
  readonly isStrict?: boolean
  readonly rules?: object
  readonly runOnly?: readonly string[]
}

/** Rules for colours, names and labels, which depend on language and theme. */
export const WORDS_AND_COLOURS: Options = {
  runOnly: [
    ...['cat.color', 'cat.language', 'cat.name-role-value'],
    ...['cat.forms', 'cat.text-alternatives', 'cat.aria'],
  ],
  // A rule of level AAA. The pages meet level AA.
  rules: { 'color-contrast-enhanced': { enabled: false } },
}

/** Minified, because it is sent to each page again. */
const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/**
 * Runs a function while a page has one row of each shape, and puts the others back. A shape is the names, classes and
 * attributes of a row and of all in it, and which of them are empty.
 */
const OF_EACH_SHAPE = `async work => {
  const toShape = each => [
    each.tagName, each.getAttribute('class') ?? '', ...each.getAttributeNames(), each.textContent.trim() === '',
    '[', ...[...each.children].map(toShape), ']',
  ].join()
  const taken = []
  for (const list of document.querySelectorAll('tbody, ul, ol, .lines')) {
    const shapes = new Set()
    for (const row of [...list.children]) {
      const shape = toShape(row)
      if (shapes.has(shape)) {
        taken.push([list, row, row.nextSibling])
        row.remove()
      } else shapes.add(shape)
    }
  }
  const done = await work()
  for (const [list, row, next] of taken.reverse()) list.insertBefore(row, next)
  return done
}`

/** What axe finds on a page: rule, number of elements, and the first of them. */
export async function auditPage(
  page: Page,
  { isStrict = false, ...options }: Options = {},
): Promise<readonly unknown[]> {
  await page.run(`${axe};0`)
  return page.run(
    `(${OF_EACH_SHAPE})(() => axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...options })})).then(({ violations }) => violations
      .filter(({ impact }) => ${isStrict} || impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => [id, nodes.length, nodes[0].html.slice(0, 200)]))`,
  )
}
