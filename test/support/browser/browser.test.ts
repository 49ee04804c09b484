import { expect, test } from 'bun:test'
import { shareBrowser } from './browser.ts'

const browser = await shareBrowser()

const served = (body: string) =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      new URL(url).pathname === '/'
        ? new Response(
            `<!doctype html><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">${body}`,
            {
              headers: { 'Content-Type': 'text/html', 'Content-Security-Policy': "img-src 'none'" },
            },
          )
        : new Response('no', { status: 404 }),
  })

test('browser: console messages, requests, width and typed text of a page are reported', async () => {
  await using server = served(
    '<input onkeydown="if (event.key === \'Enter\') document.title = this.value"><img src="http://127.0.0.1:9/blocked"><script src="missing.js"></script><script>console.info("told", 7); throw new Error("uncaught one")</script>',
  )
  const page = await browser.open({ width: 360, scheme: 'dark' })
  await page.go(String(server.url))
  expect(page.said.join('\n')).toMatch(/Content Security Policy/)
  expect(page.said.join('\n')).toMatch(/404/)
  expect(page.said).toContain('console.info: told 7')
  expect(page.said.join('\n')).toContain('uncaught one')
  expect(page.asked).toContain(`${server.url}missing.js`)
  expect(await page.run<unknown>("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]")).toEqual([
    360,
    true,
  ])
  await page.press('Tab')
  await page.type('有名字')
  await page.press('Enter')
  await page.until("document.title === '有名字'")
  await page.close()
})
