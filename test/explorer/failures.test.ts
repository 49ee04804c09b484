import { expect, setDefaultTimeout, test } from 'bun:test'
import { fillFromRecording } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

test('a page of searched rows that cannot be opened by its number or row says so in words of the page', async () => {
  const { visit } = await explorerOn()
  for (const [query, first] of [
    ['counterparty=user_009&page=2', 'account/busyhub?counterparty=user_009'],
    ['counterparty=user_009&after=xx', 'account/busyhub?counterparty=user_009'],
    ['after=xx&page=3', 'account/busyhub'],
  ] as const)
    for (const [prefix, said, word] of [
      ['', 'Rows that filters find have no page numbers', /&#x27;|head=1|Parameter/],
      ['/zh', '按条件查到的记录没有页码', /&#x27;|head=1|参数/],
    ] as const) {
      const { response, text, links } = await visit(`${prefix}/account/busyhub?${query}`)
      expect([query, response.status, text]).toEqual([query, 400, expect.stringContaining(said)])
      expect(text).not.toMatch(word)
      expect(links.map(({ href }) => href.replace(/^(?:\.\.\/)+(?:zh\/)?/, ''))).toContain(first)
    }
  const { text } = await visit('/account/busyhub?page=x')
  expect(text).toMatch(/“Page” is .*; it must be a whole number/)
})

test('an empty store: each page and the API say that nothing is loaded and what helps, without naming the store', async () => {
  const { store, destroy } = await temporarySqlite()
  await store.create()
  const { visit, ask, key } = await explorerOn({}, store)
  for (const path of ['/', '/blocks', '/account/admin']) {
    const { response, text } = await visit(`${path}?lang=en`)
    expect([path, response.status, text]).toEqual([
      path,
      503,
      expect.stringContaining('Nothing is loaded yet. Load with'),
    ])
    expect(text).not.toContain('sqlite')
  }
  expect((await visit('/zh/blocks')).text).toContain('尚未加载任何数据。请用 iostlens load')
  const answer = await ask('/api/?module=block&action=get-latest-block', { headers: { 'x-api-key': key } })
  expect(await answer.json()).toMatchObject({
    code: 5030,
    message: expect.stringMatching(/^Nothing is loaded yet\. Load/),
  })
  await destroy()
})

test('a truncated list with a file on its page names the file, not the API', async () => {
  const { call, visit } = await explorerOn({ isKeyless: true })
  const { total } = await call<{ readonly total: number }>('account/get-subaccount-list', { account: 'admin' })
  const en = await visit('/account/admin')
  expect(en.text).toMatch(
    new RegExp(`The first \\d+ of ${total.toLocaleString('en')}\\. The file above has all of them\\.`),
  )
  expect((await visit('/zh/account/admin')).text).toContain('上方的文件包含全部。')
})

/** What a page says of the last loaded block, in words. */
const lastBlockIn = (text: string): string | undefined =>
  /(?:The last loaded block is|loaded up to block) [^.]*\./.exec(text)?.[0]

test.each([
  ['loaded whole', 60, 'The last loaded block is 60.'],
  ['a little behind', 62, 'The last loaded block is 60.'],
  ['still loading', 4_851, 'loaded up to block 60 of 4851.'],
])('a store that is %s: search and address of an absent thing say the same of it', async (_, lib, said) => {
  const { store, destroy } = await temporarySqlite()
  await fillFromRecording(store, { to: 60, lib })
  const { visit } = await explorerOn({}, store)
  for (const path of ['block/99999999', 'account/nobody00', 'token/nothing', `tx/${'2'.repeat(44)}`])
    for (const each of [`/${path}`, `/search?text=${path.split('/').at(-1)}`])
      expect([each, lastBlockIn((await visit(each)).text)]).toEqual([each, said])
  await destroy()
})
