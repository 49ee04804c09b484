import { expect, test } from 'bun:test'
import { shareBrowser } from './browser.ts'

const browser = await shareBrowser()

const PAGE = `<!doctype html><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
  <input onkeydown="if (event.key === 'Enter') document.title = this.value">
  <img src="http://127.0.0.1:9/blocked"><script src="missing.js"></script>
  <script>console.info("told", 7); throw new Error("uncaught one")</script>`

test('browser: console messages, requests, width and typed text of a page are reported', async () => {
  const headers = { 'Content-Type': 'text/html', 'Content-Security-Policy': "img-src 'none'" }
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    routes: { '/': () => new Response(PAGE, { headers }) },
    fetch: () => new Response('no', { status: 404 }),
  })
  const page = await browser.open({ width: 360, scheme: 'dark' })
  await page.go(String(server.url))
  for (const said of [/Content Security Policy/, /404/, /console\.info: told 7/, /uncaught one/])
    expect(page.said.join('\n')).toMatch(said)
  expect(page.asked).toContain(`${server.url}missing.js`)
  const seen = await page.run<unknown>("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]")
  expect(seen).toEqual([360, true])
  await page.press('Tab')
  await page.type('有名字')
  await page.press('Enter')
  await page.until("document.title === '有名字'")
  await page.close()
})
