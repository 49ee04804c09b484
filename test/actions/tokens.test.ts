import { expect, test } from 'bun:test'
import { symbolsByFullName } from '#actions/find/matches.ts'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { oracle, parseTree, recordedBlocks, rpcAnswers, type Tree } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

const { accounts, balances, frozen, tokens } = await oracle()
const now = (await recordedBlocks()).at(-1)?.block.time ?? 0n

type Held = { available: bigint; frozen: bigint; entries: readonly (readonly [amount: bigint, due: bigint])[] }

/** What an owner holds of a token by the contract's storage. Frozen amounts that are due are available. */
function heldOf(token: string, owner: string): Held {
  const all = (frozen.get(token)?.get(owner) ?? []).map(
    entry => [BigInt(entry.get('amount') ?? 0), BigInt(entry.get('ftime') ?? 0)] as const,
  )
  const sumOf = (list: Held['entries']) => list.reduce((sum, [amount]) => sum + amount, 0n)
  const entries = all.filter(([, due]) => due > now)
  const available = BigInt(balances.get(token)?.get(owner) ?? 0) + sumOf(all.filter(([, due]) => due <= now))
  return { available, frozen: sumOf(entries), entries }
}
const ownersOf = (token: string): readonly string[] => [
  ...new Set([...(balances.get(token)?.keys() ?? []), ...(frozen.get(token)?.keys() ?? [])]),
]

test('get-balances: balances of every token and owner match the chain, fifty per call', async () => {
  let count = 0
  for (const token of tokens.keys()) {
    const decimals = Number(tokens.get(token)?.get('decimal'))
    const names = ownersOf(token)
    for (let at = 0; at < names.length; at += 50) {
      const accounts = names.slice(at, at + 50)
      const expected = accounts.map(account => {
        const held = heldOf(token, account)
        const frozen_balance = fromUnits(held.frozen, decimals)
        return { account, balance: fromUnits(held.available, decimals), frozen_balance }
      })
      expect(await ask('get-balances', { accounts: accounts.join(','), token })).toEqual({ balances: expected })
      count += accounts.length
    }
  }
  expect(count).toBeGreaterThan(500)
})

type Entry = { readonly account: string; readonly balance: string; readonly frozen_balance: string }

test('get-balances: a call with several tokens matches calls with one token', async () => {
  const accounts = 'busyhub,nosuchacc,admin'
  const symbols = ['ram', 'iost', 'ram']
  const several = (await ask('get-balances', { accounts, tokens: symbols.join(',') })).balances
  const single = await Promise.all(
    symbols.map(async token => (await ask('get-balances', { accounts, token })).balances),
  )
  expect(several).toEqual(
    [0, 1, 2].flatMap(account =>
      symbols.map((token, at) => {
        const entry: Entry | null = single[at]?.[account]
        return entry && { ...entry, token }
      }),
    ),
  )
  expect((await refusal(ask('get-balances', { accounts, tokens: 'iost,nosuchtoken' }))).kind).toBe('not_found')
})

test('get-balances: answers are in the requested order with duplicates; unknown owners are null, owners without the token have 0', async () => {
  const id = 'ContractDjQbPXmoCWuLUCex5cJ6b6zjTAp5J66ZCu5yY4vRNp59'
  const accounts = ['nosuchacc', 'admin', '0', id.slice('Contract'.length), 'admin', id, '54321', 'deadaddr']
  const { balances: said } = await ask('get-balances', { accounts: accounts.join(',') })
  const names = said.map((entry: Entry | null) => entry?.account ?? null)
  expect(names).toEqual([null, 'admin', '0', id, 'admin', id, null, 'deadaddr'])
  const { balance } = await ask('get-account-balance', { account: id })
  expect(said[3]).toEqual({ account: id, balance, frozen_balance: '2345.678' })
  expect(said[1]).toEqual(said[4])
  expect(said[2]).toEqual({ account: '0', balance: '0', frozen_balance: '0' })
})

test('get-base-token-list: lists all tokens by holders, then by symbol, each as get-token-detail shows it', async () => {
  const whole = [...tokens.keys()]
    .map(symbol => [symbol, ownersOf(symbol).filter(owner => heldOf(symbol, owner).available > 0n).length] as const)
    .toSorted(([a, held], [b, others]) => others - held || (a < b ? -1 : 1))
  expect([whole.length, whole.some(([, holders]) => holders === 0)]).toEqual([28, true])
  for (const size of [1, 7, 28, 29])
    for (let page = 1; page <= Math.ceil(whole.length / size) + 1; page++) {
      const { tokens: rows, ...part } = await ask('get-base-token-list', { page: `${page}`, size: `${size}` })
      expect(part).toEqual({ page, size, total: whole.length })
      expect(rows.map((row: Row) => [row.symbol, row.holder_count])).toEqual(
        whole.slice((page - 1) * size, page * size),
      )
    }
  for (const row of (await ask('get-base-token-list', { size: '500' })).tokens)
    expect(await ask('get-token-detail', { token: row.symbol })).toMatchObject(row)
})

type Row = {
  readonly symbol: string
  readonly holder_count: number
  readonly decimal: number
  readonly frozen_list: readonly { readonly amount: string; readonly time: string }[]
}

test('get-token-list: frozen amounts of every token have the times of the contract storage', async () => {
  let compared = 0
  for (const [symbol, rows] of frozen)
    for (const owner of rows.keys()) {
      const list: readonly Row[] = (await ask('get-token-list', { account: owner })).tokens
      const row = list.find(each => each.symbol === symbol)
      const said = row?.frozen_list.map(({ amount, time }) => [toUnits(amount, row.decimal), BigInt(time)]) ?? []
      const { entries } = heldOf(symbol, owner)
      expect<unknown>([owner, symbol, said]).toEqual([owner, symbol, entries])
      compared += entries.length
    }
  expect(compared).toBeGreaterThan(0)
  expect(await askText('get-token-list', { account: 'busyhub' }, { compat: 'iostabc' })).not.toContain('frozen_list')
})

type Fields = ReadonlyMap<string, Tree>

test("get-account-detail: every account matches the node's answer", async () => {
  const voteOrder = (a: Fields, b: Fields): number => {
    const votes = Number(b.get('votes')) - Number(a.get('votes'))
    return votes !== 0 ? votes : String(a.get('option')) < String(b.get('option')) ? -1 : 1
  }
  let count = 0
  for (const [call, text] of await rpcAnswers()) {
    const name = /^GET \/getAccount\/([^/]+)\/true$/.exec(call)?.[1]
    if (name === undefined) continue
    // Some fields are left out, and the node's votes are in random order.
    const account = new Map(parseTree(text) as Fields)
    for (const left of ['balance', 'balance_string', 'frozen_balances']) account.delete(left)
    account.set('vote_infos', (account.get('vote_infos') as readonly Fields[]).toSorted(voteOrder))
    expect(parseTree(await askText('get-account-detail', { account: name }))).toEqual(account)
    count += 1
  }
  expect([count, accounts.has('__proto__')]).toEqual([279, true])
  expect(await askText('get-account-detail', { account: 'busyhub' }, { numbers: 'string' })).toContain(
    '"gas_info":{"current_total":"20309028543.1","transferable_gas":"0","pledge_gas":"20309028543.1","increase_speed":"230011.5","limit":"60003000000","pledged_info":[]},"ram_info":{"available":"784029","used":"15971","total":"800000"}',
  )
})

test('get-account-balance: votes of a contract are those of the node', async () => {
  const account = 'ContractDjQbPXmoCWuLUCex5cJ6b6zjTAp5J66ZCu5yY4vRNp59'
  type Vote = { readonly option: string; readonly votes: number | string }
  const node = JSON.parse((await rpcAnswers()).get(`GET /getContractVote/${account}/true`) ?? '{}')
  const votesOf = (list: readonly Vote[]) => new Map(list.map(({ option, votes }) => [option, Number(votes)]))
  const { vote_balance } = await ask('get-account-balance', { account })
  expect(votesOf(vote_balance.list)).toEqual(votesOf(node.vote_infos))
})

test('search: a single letter finds only the tokens of which it is the whole name', async () => {
  const { store, destroy } = await temporarySqlite()
  const created = (symbol: string, fullName: string) => {
    const config = Buffer.from(JSON.stringify({ decimal: 8, fullName })).toString('base64')
    return receipt('token.iost/create', [symbol, 'admin', 1_000, config])
  }
  const receipts = [created('xtok', 'X'), created('xxtok', 'XX'), created('star', '🚀')]
  await commitRuns(store, [chainOf([genesis()], [transaction({ receipts })])], { lib: 1 })
  for (const [text, found] of [
    ['x', ['xtok']],
    ['X', ['xtok']],
    ['🚀', ['star']],
    ['', []],
    ['xx', ['xxtok']],
  ] as const)
    expect(await store.read(view => symbolsByFullName(view, text))).toEqual([...found])
  await destroy()
})
