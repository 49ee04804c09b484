import { expect, test } from 'bun:test'
import { downloads } from '#explorer/download/downloads.ts'
import { findRoute } from '#explorer/links.ts'
import { createAddressLimits } from '#gate/networks.ts'
import { spokenNode } from '../support/nodes/spoken-node.ts'
import { SOAK } from '../support/processes/soak.ts'
import { readWholeCsv } from '../support/read-csv.ts'
import { expectCells, expectFile, fileCells, fileOf } from './expect-files.ts'
import { choosePages, samplePaths } from './samples.ts'
import { type Explorer, explorerOn, HTML, listenAlone } from './served.ts'

const explorer = await explorerOn({ isKeyless: true })

test('downloads: the file of an account has every row of its list, changes that add up, and no formula', async () => {
  for (const account of ['__proto__', 'tokenboss', '12345', 'admin']) await expectFile(explorer, account)
})

test('downloads: every file matches the rows of its list of the API, cell by cell, and is in Chinese, too', async () => {
  for (const path of Object.keys(fileCells)) {
    const count = await expectCells(explorer, path)
    expect(count).toBeGreaterThan(0)
    const [heads = [], ...rows] = readWholeCsv(await (await fileOf(explorer, `/zh${path}`)).text())
    expect([path, rows.length]).toEqual([path, count])
    expect(heads.filter(head => head !== 'Gas' && !/\p{Script=Han}/u.test(head))).toEqual([])
  }
  const compared = Object.keys(fileCells).map(path => findRoute(downloads, path.replace(/\?.*/, ''))?.found)
  expect(downloads.filter(file => !compared.includes(file))).toEqual([])
})

const since = (file: string, days: readonly string[], separator = '?') =>
  days.map(day => `${file}${separator}from=${day}`)
const USUAL = ['2026-11-15', '2026-10-23', '2026-11-01', '2026-01-01']
const SUB_ACCOUNTS = ['../account/admin/sub-accounts.csv', ...since('../account/admin/sub-accounts.csv', USUAL)]

test.each([
  // A list without a range of time is offered as a whole, whatever the address of its page.
  ['/token/iost?holders=1&page=2&from=2026-11-20', ['../token/iost/holders.csv']],
  ['/wealth?page=2', ['wealth.csv']],
  ['/zh/producer/producer000?page=1', ['../producer/producer000/voters.csv']],
  ['/tokens', ['tokens.csv']],
  ['/producers', ['producers.csv']],
  ['/nfts', ['nfts.csv']],
  ['/zh/nft/nft_cats?owners=1&page=1', ['../nft/nft_cats/owners.csv']],
  // The usual periods that have rows, with the filters of the page, and those of its other list.
  [
    '/account/admin?token=iost&page=2&from=2026-11-20',
    [...since('../account/admin/records.csv?token=iost', ['2026-11-20', ...USUAL], '&'), ...SUB_ACCOUNTS],
  ],
  // An empty list offers no file, and a searched one only what fits for certain.
  ['/account/0', []],
  ['/account/busyhub?token=iost&failed=1', []],
  ['/account/busyhub?direction=out&token=iost', []],
  [
    '/account/admin?direction=out&token=iost',
    ['../account/admin/records.csv?direction=out&token=iost', ...SUB_ACCOUNTS],
  ],
])('downloads: %s offers %j', async (path, files) => {
  const { links } = await explorer.visit(path)
  const found = links.map(({ href }) => href).filter(href => href.includes('.csv'))
  expect(found).toEqual(files)
})

test('downloads: words are in the page’s language, the first line names the columns, a byte order mark tells the encoding', async () => {
  const en = await (await fileOf(explorer, '/account/tokenboss/records.csv?failed=1')).bytes()
  expect([...en.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  expect(new TextDecoder().decode(en)).toStartWith(
    'Time (UTC),Direction,Counterparty,Change,Token,Memo,Action,Status,Transaction,Block,Rows of the complete file\r\n',
  )
  const zh = await (await fileOf(explorer, '/zh/account/tokenboss/records.csv?token=iost')).text()
  expect(zh).toStartWith('时间（UTC）,方向,对方,变动,代币,备注,方法,状态,交易,区块,完整文件的行数\r\n')
  expect(zh).toContain(',成功,')
})

test.each([
  ['/account/admin/records.csv', 'account-admin-to-2026-11-21.csv'],
  [
    '/account/admin/records.csv?token=iost&from=2026-11-01',
    'account-admin-token-iost-from-2026-11-01-to-2026-11-21.csv',
  ],
  [
    '/account/admin/records.csv?func_name=token.iost%2Ftransfer&start_block=7',
    'account-admin-action-token.iost_transfer-to-2026-11-21-blocks-7-4851.csv',
  ],
  ['/zh/account/__proto__/records.csv?failed=1', 'account-__proto__-failed-to-2026-11-21.csv'],
  ['/contract/exchange.iost/records.csv', 'contract-exchange.iost-to-2026-11-21.csv'],
  ['/token/contribute/movements.csv?to=2026-11-20', 'token-contribute-to-2026-11-20.csv'],
  ['/token/contribute/holders.csv', 'token-contribute-holders-block-4851.csv'],
  ['/zh/producer/prod_01/voters.csv', 'producer-prod_01-voters-block-4851.csv'],
  ['/wealth.csv?from=2026-11-20', 'wealth-block-4851.csv'],
  ['/blocks.csv?start_block=7&end_block=9', 'blocks-to-2026-11-21-blocks-7-9.csv'],
  ['/contracts.csv?from=2026-11-21', 'contracts-from-2026-11-21-to-2026-11-21.csv'],
  ['/account/admin/sub-accounts.csv', 'account-admin-sub-accounts-to-2026-11-21.csv'],
  // A file is of one account, although the action accepts several.
  ['/account/admin,busyhub/records.csv', undefined],
  ['/account/admin%2Cbusyhub/records.csv', undefined],
])('downloads: the file name of %s describes its content', async (path, name) => {
  const { status, headers, body } = await fileOf(explorer, path)
  const named = name === undefined ? null : `attachment; filename="${name}"`
  expect([status, headers.get('content-disposition')]).toEqual([name === undefined ? 400 : 200, named])
  await body?.cancel()
})

test('downloads: a list longer than a file is refused with the remedy, and never cut', async () => {
  for (const [path, call] of [
    ['/contract/token.iost/records.csv', 'api/contract/get-contract-tx?contract=token.iost&amp;format=csv'],
    ['/transactions.csv', 'api/base/get-transaction-list?format=csv'],
    ['/zh/account/busyhub/records.csv?token=iost', 'api/account/get-account-tx?account=busyhub'],
  ] as const) {
    const { response, html } = await explorer.visit(path)
    expect([path, response.status, html.includes(call)]).toEqual([path, 400, true])
  }
  for (const [query, said] of [
    ['', 'and a file at most 10,000; choose a shorter period, or use the API with a key.'],
    ['direction=out&token=iost', 'too many rows to know whether those that pass the filters fit into a file'],
  ] as const)
    expect((await explorer.visit(`/account/busyhub?${query}`)).text).toContain(said)
})

async function offeredBy(own: Explorer, paths: readonly string[]): Promise<readonly string[]> {
  const files = new Set<string>()
  for (const path of paths)
    for (const { href } of (await own.visit(path)).links) {
      const { pathname, search } = new URL(href, `http://127.0.0.1${path}`)
      if (pathname.endsWith('.csv')) files.add(pathname + search)
    }
  return [...files]
}

test('downloads: every offered file has a row', async () => {
  const files = await offeredBy(explorer, await samplePaths(explorer))
  // Of each file, with the same names of parameters, one is read; a long run reads all that are offered.
  for (const path of choosePages(files, SOAK ? Number.POSITIVE_INFINITY : 1)) {
    const response = await fileOf(explorer, path)
    const lines = readWholeCsv(await response.text())
    expect([path, response.status, lines.length > 1]).toEqual([path, 200, true])
  }
  expect(files.length).toBeGreaterThan(100)
})

test('downloads: what is offered while the load is far behind works, too', async () => {
  const far = await explorerOn({ isKeyless: true, node: spokenNode({}, { libBlock: 1_000_000 }) })
  const files = await offeredBy(far, ['/blocks', '/transactions', '/account/admin?token=iost', '/token/contribute'])
  expect(files.length).toBeGreaterThan(5)
  for (const path of files) {
    const response = await fileOf(far, path)
    expect([path, response.status]).toEqual([path, 200])
    await response.body?.cancel()
  }
})

test('downloads: the file of a contract is the same with and without the prefix in its address', async () => {
  const read = async (id: string) => (await fileOf(explorer, `/account/${id}/records.csv`)).text()
  let own = ''
  for (const { contract_id: id } of await explorer.list('base/get-contract-list', { size: '500' })) {
    if (!id.startsWith('Contract') || own.includes(',In,')) continue
    own = await read(id)
    expect([id, (await read(id.slice('Contract'.length))) === own]).toEqual([id, true])
  }
  expect(own).toContain(',In,')
})

test('downloads: files count as visits, two at once per network address, and exports with keys have their own slots', async () => {
  let visits = 0
  let isSpent = false
  const visit = () => {
    visits += 1
    return isSpent ? 1_000 : 0
  }
  const addresses = { ...createAddressLimits({ elapsed: () => 0 }), visit }
  const service = await explorerOn({ isKeyless: true, trustedProxies: [], maxExports: 2, addresses })
  await using own = listenAlone(service)
  const get = (path: string) => fetch(`${own.url}${path}`, { headers: { accept: HTML } })
  const response = await get('/account/__proto__/records.csv')
  await response.text()
  // One visit for the file, and one for the second thousand of its rows.
  expect([response.status, visits]).toEqual([200, 2])
  // Rows are only produced when they are read, so an unread answer keeps its slot.
  const open = [await service.ask('/account/12345/records.csv'), await service.ask('/account/12345/records.csv')]
  const refused = await service.visit('/account/12345/records.csv')
  expect([refused.response.status, refused.text]).toEqual([429, expect.stringContaining('may load 2 files at once')])
  const keyed = await service.ask('/api/account/get-account-tx?account=admin&format=csv', {
    headers: { 'x-api-key': service.key },
  })
  expect(keyed.status).toBe(200)
  await keyed.text()
  for (const each of open) await each.body?.cancel()
  isSpent = true
  expect((await get('/account/admin/records.csv')).status).toBe(429)
})
