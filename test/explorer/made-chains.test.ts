import { expect, test } from 'bun:test'
import { action, receipt, transaction } from '../support/stores/hand-made.ts'
import { fillFromRecording } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { foreignIn } from './read-page.ts'
import { explorerOn, explorerOnMade } from './served.ts'

const LONG = 'x'.repeat(60_000)
const ROWS = 25

test('long texts: one that anybody can write is cut in rows, in no title, and no link to an impossible contract', async () => {
  // Calls of missing actions or contracts fail, but are shown in public lists.
  const failed = (name: string) =>
    Array.from({ length: ROWS }, () =>
      transaction({
        actions: [action(name, [])],
        receipt: { statusCode: 'RUNTIME_ERROR', message: 'prepare contract: not found' },
      }),
    )
  // Its publisher chooses the language and the version of a contract's code.
  const info = { lang: 'javascript', version: `9.${LONG.slice(0, 10_000)}`, abi: [] }
  const deployment = transaction({
    actions: [action('system.iost/setCode', [JSON.stringify({ info, code: 'class A {}' })])],
  })
  const applied = receipt('vote_producer.iost/applyRegister', ['bob0000', 'key', LONG, LONG, '', true])
  await using service = await explorerOnMade(
    [[transaction({ receipts: [applied] })], ...[failed(`token.iost/${LONG}`), failed(`${LONG}/x`)], [deployment]],
    { isKeyless: true },
  )
  for (const path of [
    ...['/contract/token.iost', '/account/alice00', '/account/alice00?page=2', '/producers'],
    ...['/transactions', '/transactions?page=2', '/'],
  ]) {
    const { html, response } = await service.visit(path)
    expect([path, response.status, html.length < 100_000]).toEqual([path, 200, true])
  }
  expect((await service.visit('/contract/token.iost')).text).toContain(`${LONG.slice(0, 32)}…`)
  const { links, text: list } = await service.visit('/transactions')
  expect(list).toContain('xxxxxxxxxx…xxxxxx')
  expect(links.filter(({ href }) => /contract\/x/.test(href))).toEqual([])
  const { html, text } = await service.visit(`/contract/Contract${deployment.hash}`)
  const titles = [...html.matchAll(/<h2[^>]*>([^<]*)/g)].map(([, title = '']) => title)
  expect(titles.filter(title => /x{9}/.test(title))).toEqual([])
  expect(text).toContain('javascript 9.xxxxxxxxx')
})

test('owners with impossible names: they are the recipients of what was issued to them, and marked as no accounts', async () => {
  // A blank at the end, and a Cyrillic letter. The balance of the second is lost.
  const receipts = ['bob0000 ', 'b\u043eb0000'].map(text => receipt('token.iost/issue', ['iost', text, '7']))
  const made = transaction({ receipts })
  const failed = transaction({ actions: [action('token.iost /run', [])], receipt: { statusCode: 'RUNTIME_ERROR' } })
  await using service = await explorerOnMade([[made, failed]])
  const countMarks = async (path: string, mark: string) => (await service.visit(path)).text.split(mark).length - 1
  // The page of a token also lists the largest holders.
  for (const [path, count] of [
    ['/token/iost?from=2019-03-01', 3],
    ['/token/iost?holders=1', 2],
    [`/tx/${made.hash}`, 2],
    ['/transactions', 2],
  ] as const) {
    const counts = [await countMarks(path, 'not an account'), await countMarks(`/zh${path}`, '非账户')]
    expect([path, counts]).toEqual([path, [count, count]])
  }
  const { links } = await service.visit('/token/iost?start_block=1')
  expect(links.filter(({ href }) => href.endsWith('contract/token.iost'))).toEqual([])
  const { html } = await service.visit('/account/alice00')
  const offered = [...html.matchAll(/<option>([^<]*)/g)].map(([, name = '']) => name)
  expect([offered.includes('deadaddr'), offered.filter(name => /b.b0000/.test(name))]).toEqual([true, []])
  expect([await countMarks('/transactions', 'not a contract'), await countMarks('/zh/transactions', '非合约')]).toEqual(
    [...[1, 1]],
  )
})

const MANY = 30
const HOSTILE = `"'></bdi></pre><script>bad()</script><img src=x onerror=bad()>\u202e`

test('many NFTs: an account shows the first ones and their number, a collection has pages, and metadata stays text', async () => {
  const nftsOn = (links: readonly { readonly href: string }[]): readonly string[] =>
    links.flatMap(({ href }) => /nft\/([^/?]+\/\d+)$/.exec(href)?.[1] ?? [])
  const long = `${HOSTILE}${'x'.repeat(20_000)}`
  const receipts = [
    receipt('token721.iost/create', ['cats', 'alice00', '1000']),
    ...Array.from({ length: MANY }, () => receipt('token721.iost/issue', ['cats', 'alice00', long])),
  ]
  await using service = await explorerOnMade([[transaction({ receipts })]])
  const { visit } = service
  const account = await visit('/account/alice00')
  expect(nftsOn(account.links).length).toBe(10)
  expect(account.text).toContain(`NFTs: ${MANY}`)
  expect(account.text).toContain(`The first 10 of ${MANY}.`)
  const [first, second] = [await visit('/nft/cats'), await visit('/nft/cats?page=2')]
  expect([nftsOn(first.links)[0], nftsOn(first.links).length]).toEqual(['cats/29', 25])
  expect(nftsOn(second.links)).toEqual([4, 3, 2, 1, 0].map(number => `cats/${number}`))
  for (const page of [account, first, second, await visit('/zh/nft/cats/7')]) {
    expect([page.response.status, foreignIn(page), /\u202e/.test(page.text)]).toEqual([200, [], false])
    expect(page.html).toContain('bad()')
  }
  const { response } = await visit('/nft/cats/7?raw=1')
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(await response.text()).toBe(long)
})

const PLURAL =
  /(?<![\d.,-])1 (?:[a-z]+ )*(?:blocks|transactions|tokens|contracts|collections|NFTs|owners|holders|voters|votes|producers|rows|days)\b/g

const BEGINNING = ['/', '/blocks', '/transactions', '/contracts', '/tokens', '/nfts', '/producers', '/wealth']

test('pages of a chain with only genesis use the singular for a count of one', async () => {
  const { store, destroy } = await temporarySqlite()
  await fillFromRecording(store, { to: 0 })
  const { visit } = await explorerOn({}, store)
  expect((await visit('/blocks')).html).toContain('1 block, newest first.')
  expect((await visit('/block/0')).html).toContain(', 1 transaction.')
  const paths = new Set([...BEGINNING, '/search?text=iost'])
  for (const list of BEGINNING)
    for (const { href, tag } of (await visit(list)).links) {
      const { pathname } = new URL(href, `http://localhost${list}`)
      if (tag === 'a' && /^\/(?:block|tx|token|contract|account|producer|nft|search)/.test(pathname))
        paths.add(pathname)
    }
  const wrong: string[] = []
  for (const path of paths)
    wrong.push(...((await visit(path)).html.match(PLURAL) ?? []).map(text => `${path}: ${text}`))
  expect(wrong).toEqual([])
  expect(paths.size).toBeGreaterThan(20)
  await destroy()
})
