import { expect, setDefaultTimeout, test } from 'bun:test'
import { shareBrowser } from '../support/browser/browser.ts'
import { servedBehind } from '../support/browser/served.ts'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain, or download the browser. A test that hangs still ends.
setDefaultTimeout(600_000)

/** One address for each filter, and one without rows. */
const ACCOUNT = [
  ...['direction=in', 'counterparty=user_009', 'token=iost', 'func_name=token.iost%2Ftransfer', 'failed=1'],
  ...['from=2026-11-20', 'to=2026-11-21', 'start_block=7', 'end_block=4000', 'from=2026-11-01&to=2026-11-02'],
  'token=iost&failed=1',
]

test('/account: with any filter the plot of all records is gone, and balance and live sign stay', async () => {
  const { visit } = await explorerOn({ isKeyless: true })
  for (const [query, isPlotted] of [
    ['', true],
    ['page=2', true],
    ...ACCOUNT.map(each => [each, false] as const),
  ] as const) {
    const { html, response } = await visit(`/account/busyhub?${query}`)
    expect([query, response.status, html.includes('class="activity"')]).toEqual([query, 200, isPlotted])
    expect([query, html.includes('id="balance-over-time"'), html.includes('data-live="records"')]).toEqual([
      ...[query, true, true],
    ])
  }
})

test('/contract: the plot of records is gone with any filter that it cannot have', async () => {
  const { visit } = await explorerOn({ isKeyless: true })
  for (const [query, isPlotted] of [
    ['', true],
    ['action_name=transfer', true],
    ...['counterparty=admin', 'failed=1', 'from=2026-11-20', 'end_block=4000', 'action_name=issue&failed=1'].map(
      each => [each, false] as const,
    ),
  ] as const) {
    const { html } = await visit(`/contract/token.iost?${query}`)
    expect([query, html.includes('class="activity"')]).toEqual([query, isPlotted])
  }
})

test('/account: a page that is out of date says so with any filter, also without rows', async () => {
  await using served = servedBehind('/', await explorerOn({ isKeyless: true, now: () => Date.now() }))
  const page = await (await shareBrowser()).open()
  for (const query of ['', 'direction=in', 'token=iost&failed=1', 'from=2026-11-01&to=2026-11-02']) {
    await page.go(`${served.url}account/busyhub?${query}`)
    await page.until(`document.querySelector('.live').dataset.state === 'stale'`)
  }
  await page.close()
})
