import { expect, setDefaultTimeout, test } from 'bun:test'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

const explorer = await explorerOn()

type Changes = {
  readonly total: number
  readonly changes: readonly {
    readonly created_at: string
    readonly tx_hash: string | null
    readonly change: string
    readonly balance: string
    readonly frozen: string
  }[]
}
const SIZE = 25

const changesOf = (account: string, token: string, given: Readonly<Record<string, string>>) =>
  explorer.call<Changes>('account/get-balance-history', { account, token, ...given })

/** The time in the format of pages. */
const shown = (iso: string): string => iso.slice(0, 19).replace('T', ' ')

/** Exact values of the figures of a page, in order. */
const figures = (html: string): readonly string[] =>
  [...html.matchAll(/<data value="([^"]*)"/g)].map(([, value = '']) => value)

test("a balance's page shows its start, its amount, and its changes page by page as the API returns them", async () => {
  // Tables with and without a frozen balance.
  const kinds = new Set<boolean>()
  for (const [account, token] of [
    ['busyhub', 'iost'],
    ['admin', 'ram'],
    ['__proto__', 'iost'],
    ['user_001', '1e5'],
  ] as const) {
    const { total, changes } = await changesOf(account, token, { size: `${SIZE}` })
    const [oldest] = (await changesOf(account, token, { size: '1', sort: 'asc' })).changes
    const path = `/account/${account}/${token}`
    const { html, text } = await explorer.visit(path)
    expect(text).toContain(`First received${shown(oldest?.created_at ?? '')}`)
    const [, facts = ''] = /<section class="card">(.*?)<\/section>/s.exec(html) ?? []
    expect([path, figures(facts)]).toEqual([path, [changes[0]?.balance ?? '', changes[0]?.frozen ?? '']])
    for (let page = 1; page <= Math.min(3, Math.ceil(total / SIZE)); page++) {
      const { changes: wanted } = await changesOf(account, token, { page: `${page}`, size: `${SIZE}` })
      const { html: of } = await explorer.visit(page === 1 ? path : `${path}?page=${page}`)
      const [, list = ''] = /<h2 id="changes">(.*?)<\/table>/s.exec(of) ?? []
      const isFrozen = wanted.some(({ frozen }) => frozen !== '0')
      kinds.add(isFrozen)
      expect([path, page, list.includes('>Frozen after</th>'), figures(list)]).toEqual([
        ...[path, page, isFrozen],
        wanted.flatMap(({ change, balance, frozen }) => [change, balance, ...(isFrozen ? [frozen] : [])]),
      ])
    }
  }
  expect([...kinds].toSorted()).toEqual([false, true])
})

test('a change that goes into the frozen balance, or from there to the available one, shows both afterwards', async () => {
  const { changes } = await changesOf('__proto__', 'iost', { size: '500' })
  const into = changes.findIndex((row, at) => row.frozen !== (changes[at + 1]?.frozen ?? row.frozen))
  const [row, earlier] = [changes[into], changes[into + 1]]
  expect(row?.frozen).not.toBe(earlier?.frozen)
  const page = Math.floor(into / SIZE) + 1
  const { html } = await explorer.visit(`/account/__proto__/iost?page=${page}`)
  const rows = /<h2 id="changes">(.*?)<\/table>/s.exec(html)?.[1]?.split('<tr>').slice(2) ?? []
  expect(figures(rows[into % SIZE] ?? '')).toEqual([row?.change ?? '', row?.balance ?? '', row?.frozen ?? ''])
})

test("a contract's id without its prefix opens the contract: title, owner and links have the whole id", async () => {
  const { contracts } = await explorer.call<{
    readonly contracts: readonly { readonly contract_id: string }[]
  }>('base/get-contract-list', { size: '500' })
  const id = contracts.map(each => each.contract_id).find(each => each.startsWith('Contract5aHQ')) ?? ''
  const bare = id.replace('Contract', '')
  const { title, text, links } = await explorer.visit(`/account/${bare}/iost`)
  expect(title).toContain(`iost of ${id}`)
  expect(text).not.toContain(`iost of ${bare}`)
  const hrefs = links.map(({ href }) => href)
  expect(hrefs).toContain(`../../contract/${id}`)
  // The contract is not listed as a counterparty of its own records.
  const { html } = await explorer.visit(`/account/${bare}`)
  expect(html).not.toContain(`<option>${id}</option>`)
})

test('holders of a token and the tokens of an account link to the balance', async () => {
  const holders = await explorer.visit('/token/iost?holders=1')
  expect(holders.links.some(({ href }) => href.endsWith('account/admin/iost'))).toBe(true)
  const account = await explorer.visit('/account/busyhub')
  expect(account.links.some(({ href }) => href.endsWith('account/busyhub/iost'))).toBe(true)
})

test('a balance of an unknown token, or of an owner that owns nothing, is not found', async () => {
  for (const path of ['/account/busyhub/nosuch', '/account/nosuch/iost', '/account/busyhub/IOST%2F'])
    expect([path, (await explorer.visit(path)).response.status]).toEqual([path, 404])
  // Account and token both exist, but the account never had the token.
  const { text } = await explorer.visit('/account/busyhub/contribute')
  expect(text).toContain('No changes.')
})
