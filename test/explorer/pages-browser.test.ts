import { afterAll, expect, test } from 'bun:test'
import { auditPage, WORDS_AND_COLOURS } from '../support/browser/axe.ts'
import { shareBrowser } from '../support/browser/browser.ts'
import { servedBehind } from '../support/browser/served.ts'
import { explorerOn } from './served.ts'

const browser = await shareBrowser()
const service = await explorerOn()
const served = servedBehind('/', service)
afterAll(() => served[Symbol.asyncDispose]())

test.each([
  [
    ...['contract/Contract8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp', '.lines'],
    "new Set([...document.querySelectorAll('.lines, .lines span')].map(each => getComputedStyle(each).color)).size > 2",
  ],
  [
    ...['account/__proto__', '.qr svg'],
    "getComputedStyle(document.querySelector('.qr svg')).backgroundColor === 'rgb(255, 255, 255)' && getComputedStyle(document.querySelector('.qr path')).stroke === 'rgb(0, 0, 0)'",
  ],
] as const)('explorer in a browser: %s, %s is readable in both themes, and fits on a phone', async (...given) => {
  const [address, part, isReadable] = given
  const page = await browser.open({ width: 360 })
  for (const scheme of ['light', 'dark'] as const) {
    await page.prefer(scheme)
    await page.go(`${served.url}${address}`)
    await page.run(`document.querySelector('${part}').closest('details').open = true`)
    expect([scheme, await auditPage(page, scheme === 'light' ? {} : WORDS_AND_COLOURS)]).toEqual([scheme, []])
    expect([scheme, await page.run('document.documentElement.scrollWidth'), await page.run(isReadable)]).toEqual([
      ...[scheme, 360, true],
    ])
  }
  await page.close()
})

test('explorer in a browser: the code of a contract is copied without line numbers, which are left of it', async () => {
  const page = await browser.open({ width: 360 })
  const address = 'contract/Contract8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp'
  const code = await (await service.ask(`/${address}?raw=1`)).text()
  await page.go(`${served.url}${address}`)
  await page.run("document.querySelector('.lines').closest('details').open = true")
  const copied = "getSelection().selectAllChildren(document.querySelector('.lines')), getSelection().toString()"
  expect((await page.run<string>(copied)).trimEnd()).toBe(code.trimEnd())
  const numbers = await page.run<readonly number[]>(
    "[...document.querySelectorAll('.lines i')].map(each => each.getBoundingClientRect().left)",
  )
  expect([new Set(numbers).size, numbers.length]).toEqual([1, code.trimEnd().split('\n').length])
  await page.close()
})

test('explorer in a browser: search, page and content are reachable by keyboard alone', async () => {
  const page = await browser.open({ width: 360 })
  await page.go(`${served.url}blocks`)
  await page.press('Tab')
  expect(await page.run<string>('document.activeElement.textContent')).toBe('Skip to the content')
  await page.press('Enter')
  await page.until("location.hash === '#main'")
  await page.press('/')
  await page.type('busyh')
  const input = "document.querySelector('.search input')"
  await page.until(`${input}.getAttribute('aria-expanded') === 'true'`)
  expect(await auditPage(page)).toEqual([])
  await page.press('Escape')
  expect(await page.run<string>(`${input}.getAttribute('aria-expanded')`)).toBe('false')
  await page.type('u')
  await page.until(`${input}.getAttribute('aria-expanded') === 'true'`)
  await page.press('ArrowDown')
  const chosen = `document.getElementById(${input}.getAttribute('aria-activedescendant'))`
  expect(await page.run<string>(`${chosen}.textContent`)).toStartWith('busyhub Account · ')
  expect(await page.run<string>(`${chosen}.getAttribute('aria-selected')`)).toBe('true')
  await page.press('Enter')
  await page.until("location.pathname === '/account/busyhub' && document.readyState === 'complete'")
  expect(page.said).toEqual([])
  await page.close()
})

test('explorer in a browser: the theme follows the system until one is chosen, and the choice persists', async () => {
  const page = await browser.open()
  await page.prefer('dark')
  await page.go(`${served.url}blocks`)
  const ground = 'getComputedStyle(document.body).backgroundColor'
  const press = "document.querySelector('button.theme').click()"
  const dark = await page.run<string>(ground)
  await page.run(press)
  const light = await page.run<string>(ground)
  expect(light).not.toBe(dark)
  await page.go(`${served.url}zh/blocks`)
  expect(await page.run<string>(ground)).toBe(light)
  expect(await page.run<string>("document.querySelector('button.theme').ariaLabel")).toBe('主题：浅色')
  await page.prefer('light')
  await page.run(press)
  expect(await page.run<string>(ground)).toBe(dark)
  await page.run(press)
  expect(await page.run<string>(ground)).toBe(light)
  expect(await auditPage(page)).toEqual([])
  await page.close()
})

test('explorer in a browser: times are shown in UTC or in the local time zone, and the choice persists', async () => {
  const page = await browser.open()
  await page.go(`${served.url}block/4824`)
  const time = "document.querySelector('time.at').textContent"
  const utc = await page.run<string>(time)
  expect(utc).toEndWith(' UTC')
  await page.run("document.querySelector('button.zone').click()")
  const local = await page.run<string>(time)
  expect(local).not.toEndWith(' UTC')
  await page.go(`${served.url}block/4824`)
  expect(await page.run<string>(time)).toBe(local)
  await page.run("document.querySelector('button.zone').click()")
  expect(await page.run<string>(time)).toBe(utc)
  await page.close()
})

test('explorer in a browser: a page of an account that is out of date says so with any filter, also without rows', async () => {
  await using late = servedBehind('/', await explorerOn({ isKeyless: true, now: () => Date.now() }))
  const page = await browser.open()
  for (const query of ['', 'direction=in', 'token=iost&failed=1']) {
    await page.go(`${late.url}account/busyhub?${query}`)
    await page.until(`document.querySelector('.live').dataset.state === 'stale'`)
  }
  await page.close()
})
