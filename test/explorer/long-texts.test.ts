import { afterAll, beforeAll, expect, test } from 'bun:test'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { action, chainOf, genesis, type Made, receipt, transaction } from '../support/stores/hand-made.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { nodeText } from '../support/stores/node-text.ts'
import { type Explorer, explorerOn } from './served.ts'

/** The maximum size of a transaction is 64 KB. */
const LONG = 'x'.repeat(60_000)
/** Rows of a page, each of another transaction. */
const ROWS = 25

function told(made: Made) {
  const tx = transaction(made)
  return { ...tx, body: nodeText(tx) }
}

/** Calls of missing actions or contracts fail, but are shown in public lists. */
const failed = (name: string) =>
  told({
    actions: [action(name, [])],
    receipt: { statusCode: 'RUNTIME_ERROR', message: 'prepare contract: not found' },
  })

/** Its publisher chooses the language and the version of a contract's code. */
const deployment = told({
  actions: [
    action('system.iost/setCode', [
      JSON.stringify({
        info: { lang: 'javascript', version: `9.${LONG.slice(0, 10_000)}`, abi: [] },
        code: 'class A {}',
      }),
    ]),
  ],
})

let opened: Awaited<ReturnType<typeof temporarySqlite>>
let explorer: Explorer
beforeAll(async () => {
  opened = await temporarySqlite()
  const applied = ['bob0000', 'key', LONG, LONG, '', true]
  const first = genesis()
  const blocks = chainOf(
    [{ ...first, body: nodeText(first) }],
    [told({ receipts: [receipt('vote_producer.iost/applyRegister', applied)] })],
    Array.from({ length: ROWS }, () => failed(`token.iost/${LONG}`)),
    Array.from({ length: ROWS }, () => failed(`${LONG}/x`)),
    [deployment],
  )
  await commitRuns(opened.store, [blocks], { lib: 4 })
  explorer = await explorerOn({ isKeyless: true }, opened.store)
})
afterAll(() => opened.destroy())

test('rows: a text that anybody can write is cut, whatever its length', async () => {
  for (const path of [
    ...['/contract/token.iost', '/account/alice00', '/account/alice00?page=2', '/producers'],
    ...['/transactions', '/transactions?page=2', '/'],
  ]) {
    const { html, response } = await explorer.visit(path)
    expect([path, response.status, html.length < 100_000]).toEqual([path, 200, true])
  }
  const { text } = await explorer.visit('/contract/token.iost')
  expect(text).toContain(`${LONG.slice(0, 32)}…`)
})

test('rows: an impossible contract is not a link', async () => {
  const { links, text } = await explorer.visit('/transactions')
  expect(text).toContain('xxxxxxxxxx…xxxxxx')
  expect(links.filter(({ href }) => /contract\/x/.test(href))).toEqual([])
})

test('titles: a text of the publisher of a contract is in none of them', async () => {
  for (const lang of ['', '/zh']) {
    const { html, text } = await explorer.visit(`${lang}/contract/Contract${deployment.hash}`)
    const titles = [...html.matchAll(/<h2[^>]*>([^<]*)/g)].map(([, title = '']) => title)
    expect(titles.filter(title => /x{9}/.test(title))).toEqual([])
    expect(text).toContain('javascript 9.xxxxxxxxx')
  }
})
