import { expect, setDefaultTimeout, test } from 'bun:test'
import { oracle, recordedBlocks } from '../support/nodes/recording.ts'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

const explorer = await explorerOn()

/** The text of a page with runs of white space reduced to one space. */
const textOf = async (path: string): Promise<string> => (await explorer.visit(path)).text.replace(/\s+/g, ' ')

test('words: a token says who may transfer it', async () => {
  const { tokens } = await oracle()
  const seen = new Set<string>()
  for (const [symbol, stored] of tokens) {
    const told =
      stored.get('canTransfer') !== 'true'
        ? 'Not allowed'
        : stored.get('onlyIssuerCanTransfer') === 'true'
          ? 'Only with the issuer&#x27;s permission'
          : 'Allowed'
    expect([symbol, await textOf(`/token/${symbol}`)]).toEqual([
      symbol,
      expect.stringMatching(new RegExp(`Transfers\\s*${told}`)),
    ])
    seen.add(told)
  }
  expect(seen.size).toBeGreaterThan(1)
})

test('words: the total of an account names the gas pledge that the rich list leaves out', async () => {
  const { wealth } = await explorer.call<{ wealth: readonly { account: string; balance: string }[] }>(
    'base/get-wealth-list',
    { size: '500' },
  )
  let pledged = 0
  for (const { account, balance } of wealth.slice(0, 60)) {
    const { html, text } = await explorer.visit(`/account/${account}`)
    const isPledged = text.includes('without the gas pledge')
    expect([account, html.includes(`value="${balance}"`)]).toEqual([account, true])
    pledged += Number(isPledged)
  }
  expect(pledged).toBeGreaterThan(0)
  const list = await textOf('/wealth')
  expect(list).toContain('Total without gas pledge (IOST)')
  expect(list).toContain('Share of circulating supply')
  expect(await textOf('/token/iost')).toContain('Available balances by share of the supply')
})

test('words: the page of an unregistered producer shows the time of unregistration and its remaining voters', async () => {
  const { producers, producerVotes, votes } = await oracle()
  const former = [...producerVotes.keys()].filter(name => !producers.has(name))
  expect(former.length).toBeGreaterThan(0)
  for (const name of former) {
    const { response, html, text } = await explorer.visit(`/producer/${name}`)
    const said = await explorer.call<{ unregistered_at: string; unregistered_block: number }>(
      'producer/get-producer-registration',
      { producer: name },
    )
    expect(response.status).toBe(200)
    expect(text).toContain('Not registered')
    expect(html).toContain(`datetime="${said.unregistered_at}"`)
    expect(html).toContain(`/block/${said.unregistered_block}"`)
    for (const voter of votes.get(name)?.keys() ?? []) {
      expect(html).toContain(`/account/${voter}"`)
      expect((await explorer.visit(`/account/${voter}`)).html).toContain(`/producer/${name}"`)
    }
  }
  // An account with rewards alone is no producer.
  expect((await explorer.visit('/producer/busyhub')).response.status).toBe(404)
})

test('words: bars say whether they show the free or the used part', async () => {
  const text = await textOf('/account/busyhub')
  expect(text).toMatch(/Gas left.*% left.*RAM used \(bytes\).*% used/)
})

test('words: RAM that a transaction gives back is returned, not paid', async () => {
  const all = (await recordedBlocks()).flatMap(({ block }) => block.transactions)
  const usageOf = (body: string): readonly (readonly [string, string])[] =>
    Object.entries(JSON.parse(body).tx_receipt.ram_usage as Readonly<Record<string, string>>)
  const given = all.find(({ body }) => usageOf(body).some(([, bytes]) => bytes.startsWith('-')))
  const text = await textOf(`/tx/${given?.hash}`)
  for (const [payer, bytes] of usageOf(given?.body ?? ''))
    expect(text).toContain(
      bytes.startsWith('-') ? `${bytes.slice(1)} bytes, returned to ${payer}` : `bytes, paid by ${payer}`,
    )
  expect(text).not.toMatch(/-\d+ bytes/)
})

test('words: rows of transactions show the moved amounts, and none for a failed transaction', async () => {
  const { transactions } = await explorer.call<{
    transactions: readonly { readonly tx_hash: string; readonly status_code: string }[]
  }>('base/get-transaction-list', { size: '25' })
  const { records } = await explorer.call<{
    records: readonly { readonly tx_hash: string; readonly amount?: string; readonly token?: string }[]
  }>('transaction/get-transaction-records', {
    tx_hashes: transactions.map(({ tx_hash }) => tx_hash).join(','),
  })
  const { html } = await explorer.visit('/transactions')
  const rows = html.split('<tr>').slice(2)
  expect(rows.length).toBe(transactions.length)
  for (const [at, { tx_hash }] of transactions.entries()) {
    const moved = records.filter(row => row.tx_hash === tx_hash && row.token !== undefined)
    const shown = [...(rows[at] ?? '').matchAll(/<span class="amount"[^>]*><data value="([^"]*)"/g)]
    expect([tx_hash, shown.map(([, value]) => value)]).toEqual([
      tx_hash,
      moved.slice(0, 2).map(({ amount = '' }) => amount),
    ])
  }
  expect(transactions.some(({ status_code }) => status_code !== 'SUCCESS')).toBe(true)
  expect(records.some(({ token }) => token !== undefined)).toBe(true)
})

test('words: a transaction that creates an account shows the pledge and the payment inside the receipt', async () => {
  const { transactions } = await explorer.call<{ transactions: readonly { readonly tx_hash: string }[] }>(
    'contract/get-contract-tx',
    { contract: 'auth.iost', action_name: 'signUp', size: '5' },
  )
  const { html } = await explorer.visit(`/tx/${transactions[0]?.tx_hash}`)
  const names = [...html.matchAll(/<(ul class="call-tree"|\/ul)>|<li><span class="what">.*?<bdi>(\w+)<\/bdi>/g)]
  const drawn = names.map(([, list, name]) => name ?? (list === '/ul' ? ')' : '(')).join(' ')
  expect(drawn).toContain('signUp ( pledge ( transfer ) )')
})

test("words: a link preview has title and description in the page's language", async () => {
  for (const [path, name, locale] of [
    ['/account/busyhub', 'IOST explorer', 'en_US'],
    ['/zh/account/busyhub', 'IOST 浏览器', 'zh_CN'],
  ] as const) {
    const { html, title } = await explorer.visit(path)
    const metas = new Map(
      [...html.matchAll(/<meta (?:property|name)="([^"]*)" content="([^"]*)"/g)].map(
        ([, key = '', text = '']) => [key, text] as const,
      ),
    )
    expect(`${metas.get('og:title')} · IOST`).toBe(title)
    expect(metas.get('og:description')).toBe(metas.get('description') ?? '')
    expect([metas.get('og:site_name'), metas.get('og:locale')]).toEqual([name, locale])
    expect(metas.get('og:url')).toEndWith(path)
  }
})

test('words: producers can be sorted by any of their figures, and are sorted by rank otherwise', async () => {
  type Row = Readonly<Record<'account' | 'votes_change_7d' | 'received_award', string>> &
    Readonly<Record<'voter_count' | 'block_count', number>>
  const { producers } = await explorer.call<{ producers: readonly Row[] }>('base/get-producer-list', {
    size: '500',
  })
  for (const [by, key] of [
    ['change', 'votes_change_7d'],
    ['voters', 'voter_count'],
    ['blocks', 'block_count'],
    ['rewards', 'received_award'],
    ['unknown', undefined],
  ] as const) {
    const { html } = await explorer.visit(`/producers?by=${by}`)
    const shown = [...html.matchAll(/href="producer\/(\w+)"/g)].map(([, name]) => name)
    // The values of this chain differ enough for comparison as doubles.
    const wanted = key === undefined ? producers : producers.toSorted((a, b) => Number(b[key]) - Number(a[key]))
    expect([by, shown]).toEqual([by, wanted.map(({ account }) => account)])
  }
})

test('words: a block counts the same transactions as its list shows', async () => {
  const blocks = (await recordedBlocks()).slice(-25).toReversed()
  const { html } = await explorer.visit('/blocks')
  const counted = [...html.matchAll(/<td data-head="Transactions"[^>]*>.*?>(\d+)</gs)].map(([, text]) => text)
  expect(counted).toEqual(blocks.map(({ block }) => String(block.transactions.length - 1)))
  expect(await textOf('/block/4850')).toContain('0, and the base transaction of the block')
  expect(await textOf('/block/0')).not.toContain('and the base transaction')
  expect(await textOf('/block/0')).toContain('Parent—Signed by')
})

test('words: the page of a missing block suggests no similar block', async () => {
  const { response, text, html } = await explorer.visit('/block/99999999')
  expect([response.status, text.includes('Did you mean')]).toEqual([404, false])
  expect(html).toContain('href="../block/4851"')
})

test('words: a page number after the last page redirects to the last page', async () => {
  for (const [path, to] of [
    ['/blocks?page=999999', 'blocks?page=195'],
    ['/zh/blocks?page=999999', 'zh/blocks?page=195'],
    ['/producers?page=7', 'producers'],
    ['/token/iost?holders=1&page=99', 'token/iost?holders=1&page=8'],
  ] as const) {
    const { response } = await explorer.visit(path)
    const location = new URL(response.headers.get('location') ?? '', `http://127.0.0.1${path}`)
    expect([path, response.status, location.href]).toEqual([path, 302, `http://127.0.0.1/${to}`])
  }
  const { text } = await explorer.visit('/block/4824?page=99')
  expect(text).not.toContain('No transactions on this page')
})

test('words: prices of RAM say that they are per byte', async () => {
  for (const name of ['ram_buy_price', 'ram_sell_price']) {
    expect(await textOf(`/statistics/${name}`)).toContain('price per byte (IOST)')
    expect(await textOf(`/zh/statistics/${name}`)).toMatch(/每字节 RAM [买卖][入出]价（IOST）/)
  }
})

test('words: days after the last block are not described as days without blocks', async () => {
  for (const page of ['statistics', 'statistics/votes'])
    for (const [prefix, said] of [
      ['', 'No block up to 4851 is of these days.'],
      ['/zh', '截至区块 4851，这些日期没有区块。'],
    ] as const) {
      const path = `${prefix}/${page}?start_date=2026-11-22&end_date=2026-11-25`
      expect([path, (await textOf(path)).includes(said)]).toEqual([path, true])
    }
})

test("words: errors name wrong values by the labels of the page's form", async () => {
  const said = async (path: string): Promise<string> =>
    (await textOf(path)).replaceAll('&#x27;', "'").replaceAll('&#39;', "'")
  for (const [path, en, zh] of [
    [
      '/account/busyhub?from=x',
      "“From day (UTC)” is 'x'; it must be a UTC day such as",
      "“起始日期（UTC）”的值为 'x'；取值须为：UTC 日期",
    ],
    [
      '/token/iost?from=2026-11-22&to=2026-11-20',
      '“From day (UTC)” is 2026-11-22 and “To day (UTC)” is 2026-11-20; the start must not be after the end.',
      '“起始日期（UTC）”的值为 2026-11-22，“结束日期（UTC）”的值为 2026-11-20；起点不能晚于终点。',
    ],
    [
      '/contract/token.iost?start_block=9&end_block=3',
      '“From block” is 9 and “To block” is 3; the start must not be after the end.',
      '“起始区块”的值为 9，“结束区块”的值为 3；起点不能晚于终点。',
    ],
    [
      '/statistics/votes?start_date=2000-01-01&end_date=2020-11-20',
      'at most 366 are allowed: split it with “From” and “To”.',
      '区间最多 366 天，请用“起”和“止”分段查询。',
    ],
    [
      '/account/busyhub?counterparty=A!',
      "“Counterparty” is 'A!'; it must be an account name",
      "“对方”的值为 'A!'；取值须为：账户名",
    ],
    [
      '/account/busyhub?token=iost,UP',
      "Value 2 of “Token” is 'UP'; it must be a token name",
      "“代币”的第 2 个值为 'UP'；取值须为：代币名称",
    ],
    [
      '/contract/token.iost?counterparty=A!',
      "“Party” is 'A!'; it must be an account name",
      "“参与方”的值为 'A!'；取值须为：账户名",
    ],
    ['/contract/token.iost?action_name=a.b', "“Action” is 'a.b'; it must be", "“方法”的值为 'a.b'；取值须为"],
    ['/token/iost/movements.csv?func_name=x', "“Action” is 'x'; it must be", "“方法”的值为 'x'；取值须为"],
    ['/tokens?page=x', "“Page” is 'x'; it must be a whole number", "“页码”的值为 'x'；取值须为"],
    ['/account/busyhub/records.csv?to=x', "“To day (UTC)” is 'x'; it must be", "“结束日期（UTC）”的值为 'x'；"],
  ] as const) {
    expect([path, await said(path)]).toEqual([path, expect.stringContaining(en)])
    expect([path, await said(`/zh${path}`)]).toEqual([path, expect.stringContaining(zh)])
  }
})
