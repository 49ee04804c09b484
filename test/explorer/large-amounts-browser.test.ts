import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { shareBrowser } from '../support/browser/browser.ts'
import { type Served, servedBehind } from '../support/browser/served.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadFrom, temporarySqlite } from '../support/stores/loading.ts'

// A test that hangs still ends.
setDefaultTimeout(600_000)

const browser = await shareBrowser()
let opened: Awaited<ReturnType<typeof temporarySqlite>>
let served: Served
beforeAll(async () => {
  opened = await temporarySqlite()
  const node = serveGenerated({ ...small('busy'), blocks: 200 })
  await loadFrom(node.url, opened.store)
  await node.stop()
  served = servedBehind('/', serviceOn(opened.store, { explorer: true }))
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await opened.destroy()
})

/** Widths of a phone and of tablets, on both sides of those at which the layout changes. */
const WIDTHS = [360, 480, 759, 761, 768, 820, 959, 961, 1_151] as const

/** Tables and figures that are wider than the card around them, and do not scroll. */
const BEYOND = `[...document.querySelectorAll('.card :is(table, .figures > div)')]
  .filter(each => each.closest('.inner') === null &&  each.getBoundingClientRect().right > each.closest('.card').getBoundingClientRect().right)
  .map(each => each.className)`

/** Times in lists that are on more than two lines: one for the date, one for the time. */
const BROKEN = `[...document.querySelectorAll('td .ago.day')]
  .filter(each => each.checkVisibility() && each.getBoundingClientRect().height > 2.5 * parseFloat(getComputedStyle(each).lineHeight))
  .length`

test('large amounts: pages with amounts of most of all IOST fit at every width', async () => {
  const page = await browser.open()
  for (const address of ['wealth', 'account/busy_hub', 'account/busy_hub/coin', 'token/coin?holders=1'])
    for (const prefix of ['', 'zh/']) {
      await page.go(`${served.url}${prefix}${address}`)
      for (const width of WIDTHS) {
        await page.resize(width)
        const shown = await page.run(`[document.documentElement.scrollWidth, ${BEYOND}, ${BROKEN}]`)
        expect([prefix, address, shown]).toEqual([prefix, address, [width, [], 0]])
      }
    }
  await page.close()
})

/** Writes amounts of eleven digits, ranks of five, and names of accounts and contracts of full length into every row. */
const ENLARGED = `for (const row of document.querySelectorAll('tbody tr')) {
  for (const each of row.querySelectorAll('td.digits:not(:last-child) data'))
    each.innerHTML = '<span>20,000,000,000</span><span class="minor">.12345678</span>'
  row.querySelector('.number').textContent = '12,345'
  row.querySelector('.name bdi').textContent = row.rowIndex % 2 ? 'producer000' : 'ContractDj…vRNp59'
}`

/** Names of accounts that are broken into lines. */
const BROKEN_NAMES = `[...document.querySelectorAll('td .name bdi')]
  .filter(each => each.checkVisibility() && !each.textContent.includes('…') && each.getClientRects().length > 1)
  .length`

test('large amounts: the rich list fits if all of its amounts, names and ranks are as long as they can be', async () => {
  const page = await browser.open()
  for (const prefix of ['', 'zh/']) {
    await page.go(`${served.url}${prefix}wealth`)
    await page.run(ENLARGED)
    for (const width of WIDTHS) {
      await page.resize(width)
      const shown = await page.run(`[document.documentElement.scrollWidth, ${BEYOND}, ${BROKEN_NAMES}]`)
      expect([prefix, shown]).toEqual([prefix, [width, [], 0]])
    }
  }
  await page.close()
})

test('failures: the page of a name that cannot exist fits, however long the name is', async () => {
  const page = await browser.open()
  for (const path of ['account', 'zh/tx', 'contract', 'token/coin?start_block='].map(
    each => `${each}/${'W'.repeat(3_000)}`,
  )) {
    await page.go(`${served.url}${path}`)
    for (const width of [360, 768]) {
      await page.resize(width)
      expect([path.slice(0, 20), await page.run<unknown>('document.documentElement.scrollWidth')]).toEqual([
        path.slice(0, 20),
        width,
      ])
    }
  }
  await page.close()
})
