import { expect, test } from 'bun:test'
import { explorerOn } from './served.ts'

const explorer = await explorerOn()

const readText = async (path: string): Promise<string> => (await explorer.visit(path)).text.replace(/\s+/g, ' ')

test.each([
  ['/wealth', 'Total without gas pledge (IOST)'],
  ['/wealth', 'Share of circulating supply'],
  ['/token/iost', 'Available balances by share of the supply'],
  // Bars say whether they show the free or the used part.
  ['/account/busyhub', /Gas left.*% left.*RAM used \(bytes\).*% used/],
  ...['buy', 'sell'].map(way => [`/statistics/ram_${way}_price`, 'price per byte (IOST)'] as const),
  ...['buy', 'sell'].map(way => [`/zh/statistics/ram_${way}_price`, /每字节 RAM [买卖][入出]价（IOST）/] as const),
  // Days after the last block are not described as days without blocks.
  ...['statistics', 'statistics/votes'].flatMap(
    page =>
      [
        [`/${page}?start_date=2026-11-22&end_date=2026-11-25`, 'No block up to 4851 is of these days.'],
        [`/zh/${page}?start_date=2026-11-22&end_date=2026-11-25`, '截至区块 4851，这些日期没有区块。'],
      ] as const,
  ),
] as const)('words: %s says %s', async (path, said) => {
  expect(await readText(path)).toMatch(said)
})

test('words: the total of an account names the gas pledge that the rich list leaves out', async () => {
  const wealth = await explorer.list('base/get-wealth-list', { size: '20' })
  let pledged = 0
  for (const { account, balance } of wealth) {
    const { html, text } = await explorer.visit(`/account/${account}`)
    expect([account, html.includes(`value="${balance}"`)]).toEqual([account, true])
    pledged += Number(text.includes('without the gas pledge'))
  }
  expect(pledged).toBeGreaterThan(0)
})

test('words: a truncated list with a file on its page names the file, not the API', async () => {
  const { call, visit } = await explorerOn({ isKeyless: true })
  const { total } = await call('account/get-subaccount-list', { account: 'admin' })
  const whole = new RegExp(`The first \\d+ of ${total.toLocaleString('en')}\\. The file above has all of them\\.`)
  expect((await visit('/account/admin')).text).toMatch(whole)
  expect((await visit('/zh/account/admin')).text).toContain('上方的文件包含全部。')
})

test("words: errors name wrong values by the labels of the page's form", async () => {
  const said = async (path: string): Promise<string> =>
    (await readText(path)).replaceAll('&#x27;', "'").replaceAll('&#39;', "'")
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
    ['/contract/token.iost?action_name=a.b', "“Action” is 'a.b'; it must be", "“方法”的值为 'a.b'；取值须为"],
    ['/token/iost/movements.csv?func_name=x', "“Action” is 'x'; it must be", "“方法”的值为 'x'；取值须为"],
    ['/account/busyhub/records.csv?to=x', "“To day (UTC)” is 'x'; it must be", "“结束日期（UTC）”的值为 'x'；"],
  ] as const) {
    expect([path, await said(path)]).toEqual([path, expect.stringContaining(en)])
    expect([path, await said(`/zh${path}`)]).toEqual([path, expect.stringContaining(zh)])
  }
})
