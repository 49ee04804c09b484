import { describe, expect, test } from 'bun:test'
import type { Transaction, TxReceipt } from '#chain/block.ts'
import { parseDeployedContract } from '#chain/contract-code.ts'
import { accounts } from '#indices/account.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { listOf, transactionId } from '#indices/list.ts'
import { pledges } from '#indices/pledge.ts'
import { resources } from '#indices/resource.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { listStretches, RUN_LENGTH, transactionRuns } from '#indices/transaction.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'
import { action, chainOf, createToken, genesis, hashOf, receipt, transaction } from '#test/support/stores/hand-made.ts'
import {
  balance,
  count,
  derive,
  FIRST,
  freeze,
  rowsOf,
  sendActions,
  sendReceipts,
  transfer,
} from '#test/support/stores/hand-made-derived.ts'

// `test/answers` compares rows, lists, balances and frozen amounts of the recording, whose log names 300 kinds of
// transactions; `recording.test.ts` compares its gas, pledges and RAM. Here is what the recording lacks.

test('deriveBlock: the configuration of a token is read as Go reads it', () => {
  const create = (symbol: string, config: string) =>
    receipt('token.iost/create', [symbol, 'admin', 10, Buffer.from(config).toString('base64')])
  const chain = derive([
    sendReceipts(
      create('below', '{"decimal":-0.5,"fullName":"a\\ud83d"}'),
      create('minus', '{"decimal":-0}'),
      create('half', '{"decimal":2.5,"decimal":1.999,"fullName":""}'),
    ),
  ])
  for (const [symbol, decimal, full_name, total_supply] of [
    ['below', 0, 'a\ufffd', 10n],
    ['minus', 0, 'minus', 10n],
    ['half', 1, '', 100n],
  ] as const)
    expect(chain.state.get(tokens, symbol)).toMatchObject({ decimal, full_name, total_supply })
})

test('deriveBlock: an amount sent to a name that the contract cannot store is lost, but stays in the supply', () => {
  const kept = ['', 'a/b', 'Contract x', 'x'.repeat(62)]
  const gone = ['a-b', 'a@b', 'é', 'nul\0', 'x'.repeat(63), `Contract${'1'.repeat(600)}`]
  const chain = derive(
    [sendReceipts(createToken('odd', 0))],
    [...kept, ...gone].map(name =>
      sendReceipts(receipt('token.iost/issue', ['odd', name, '1']), transfer('iost', 'alice00', name, '1', '')),
    ),
  )
  const held = chain.state.all(balances).filter(({ token }) => token === 'odd')
  expect(held.map(({ owner, amount }) => [owner, amount])).toEqual(kept.map(name => [name, 1n]))
  expect(chain.state.get(tokens, 'odd')).toMatchObject({ current_supply: 10n, holder_count: 4 })
  expect(balance(chain, 'iost/alice00').amount).toBe(99_000_000_000n)
  expect(chain.state.get(balances, balanceId('iost', 'a-b'))).toBeUndefined()
})

test('deriveBlock: a total supply far below zero is truncated to 64 bits', () => {
  const config = Buffer.from('{"decimal":8}').toString('base64')
  const totals = ['-5', '-9223372036854775808', '-9223372036854775807', '92233720368']
  const created = totals.map((total, at) => receipt('token.iost/create', `["t${at}","alice00",${total},"${config}"]`))
  const { state } = derive([sendReceipts(...created)])
  const kept = [-500_000_000n, 0n, 100_000_000n, 9_223_372_036_800_000_000n]
  expect(totals.map((_, at) => state.get(tokens, `t${at}`)?.total_supply)).toEqual(kept)
})

test('deriveBlock: a movement of more than the balance stops the load', () => {
  expect(() => derive([sendReceipts(transfer('iost', 'bob0000', 'alice00', '1', ''))])).toThrow(
    'Block 1 takes more iost from "bob0000" than it has: -100000000 would be left.',
  )
})

test('deriveBlock: a contract deployed by a contract is owned by the publisher, who pays its RAM', () => {
  const make = (hash: string, told: Partial<TxReceipt>) =>
    transaction({ hash, actions: [action('ContractFactory/make', ['code'])], receipt: told })
  const [byReturn, byRam] = [hashOf('by return'), hashOf('by RAM')]
  const [id, other] = [`Contract${byReturn}`, `Contract${byRam}`]
  const ramUsage = Object.entries({ alice00: 142n, [other]: 114n })
  const blocks = chainOf(
    [genesis()],
    [
      make(byReturn, { returns: [`["[\\"${id}\\"]"]`] }),
      make(byRam, { ramUsage }),
      transaction({ publisher: 'bob0000', receipt: { ramUsage: [[id, 160n]] } }),
    ],
  )
  const abis = [{ name: 'put', args: ['string'], amount_limit: [] }]
  // The node returns the code of one of them.
  const code = { id, language: 'javascript', version: '1.0.0', abis }
  const chain = deriveChain(blocks.map(one => ({ ...one, systemCode: [code] })))
  expect(chain.state.get(contracts, id)).toMatchObject({ owner: 'alice00', language: 'javascript', abis })
  expect(balance(chain, 'ram/alice00').amount).toBe(100_000n - 142n - 114n - 160n)
  expect(chain.state.get(contracts, other)).toMatchObject({ owner: 'alice00', publisher: 'alice00', abis: [] })
  expect(rowsOf(chain, 1).map(({ deployed }) => deployed)).toEqual([id, other])
  expect(count(chain, listOf.contracts)).toBe(7)
})

test('deriveBlock: a movement with another memo, time or type of argument than the action is a row of its own', () => {
  const chain = derive([
    transaction({
      actions: [
        action('token.iost/transfer', ['iost', 'alice00', 'bob0000', '1', 'a']),
        action('token.iost/transferFreeze', ['iost', 'alice00', 'bob0000', '1', FIRST + 1n, '']),
      ],
      receipts: [transfer('iost', 'alice00', 'bob0000', '1', 'b'), freeze('alice00', 'bob0000', '1', FIRST + 2n)],
    }),
  ])
  expect(rowsOf(chain, 1).map(({ index, amount }) => [index, amount])).toEqual([
    [0, undefined],
    [1, undefined],
    [2, '1'],
    [3, '1'],
  ])
})

test('deriveBlock: 60 KB of free text are stored in the transaction', () => {
  const long = 'é'.repeat(30_000)
  const chain = derive([
    transaction({ actions: [action('system.iost/receipt', [long])], receipts: [receipt('system.iost/receipt', long)] }),
    transaction({ actions: [action(`${long}/x`, [])], receipt: { statusCode: 'RUNTIME_ERROR' } }),
    sendActions(action('system.iost/receipt', `["${'x'.repeat(4_096 - 11 - 7 - 4 - 2)}"]`)),
    sendActions(action('system.iost/receipt', `["${'x'.repeat(4_096 - 11 - 7 - 4 - 1)}"]`)),
  ])
  const rows = rowsOf(chain, 1)
  expect(rows.map(row => [row.contract, row.action_name, row.data.length, row.to, row.overflow])).toEqual([
    ['', '', 0, 'system.iost', true],
    ['', '', 0, '', true],
    ['system.iost', 'receipt', 4_076, 'system.iost', false],
    ['', '', 0, 'system.iost', true],
  ])
})

test('deriveBlock: ten thousand movements and freezes in one transaction take no more time each than a single one', () => {
  const size = 10_000
  const args = (at: number) => ['iost', 'alice00', 'bob0000', '0.00000001', `${at % 7}`]
  const frozen = (at: number) => freeze('alice00', 'bob0000', '0.00000001', FIRST + BigInt(size - at))
  const tx = transaction({
    actions: Array.from({ length: size }, (_, at) => action('token.iost/transfer', args(at))),
    receipts: Array.from({ length: 2 * size }, (_, at) => (at < size ? transfer(...args(at)) : frozen(at - size))),
  })
  const chain = derive([tx])
  const { amount, frozen: locked, frozen_list, next_due } = balance(chain, 'iost/bob0000')
  expect([amount, locked, frozen_list?.length, next_due]).toEqual([10_000n, 10_000n, size, FIRST + 1n])
  const rows = rowsOf(chain, 1)
  expect(rows.length).toBe(2 * size)
  expect(rows.filter(row => row.receipt === undefined && row.amount !== '0.00000001')).toEqual([])
})

test('deriveBlock: runs hold all transactions except base ones, in order and full except the last, for any sizes of blocks', () => {
  const sent = (amount: number) => Array.from({ length: amount }, () => transaction({}))
  const chain = derive(sent(3), [], sent(251), [], sent(1), sent(2 * RUN_LENGTH + 5), sent(0), sent(1))
  const all = chain.documents.flatMap(({ transactions }) => transactions.map(({ id }) => id))
  expect(all.length).toBe(1 + 3 + 251 + 1 + 517 + 1)
  const runs = chain.state.all(transactionRuns)
  expect(runs.map(({ id }) => id)).toEqual(['0', '1', '2', '3'])
  const ids = runs.map(run =>
    listStretches(run).flatMap(({ height, first, count: rows }) =>
      Array.from({ length: rows }, (_, at) => transactionId(height, first + at)),
    ),
  )
  expect(ids.map(({ length }) => length)).toEqual([RUN_LENGTH, RUN_LENGTH, RUN_LENGTH, 6])
  expect(ids.flat()).toEqual(all)
})

test("deriveBlock: a movement to an invalid name is in the token's list and, among the lists with the token, in the sender's", () => {
  const chain = derive([sendReceipts(transfer('iost', 'alice00', 'no name!', '1', ''))])
  const [row] = rowsOf(chain, 1)
  expect([row?.from, row?.to]).toEqual(['alice00', 'token.iost'])
  // The first row of both lists is the issue of iost to alice00 in genesis.
  const lists = [listOf.token('iost'), ...['alice00', 'token.iost', 'no name!'].map(name => listOf.moved(name, 'iost'))]
  expect(lists.map(key => count(chain, key))).toEqual([2, 2, undefined, undefined])
})

const pledge = (from: string, to: string, amount: string, name: 'pledge' | 'unpledge' = 'pledge'): Transaction =>
  sendReceipts(receipt(`gas.iost/${name}`, [from, to, amount]))

test.each(['90', '90.', '--90', '90.00000000abc'])('applyGas: an unpledge of "%s" is of 90', amount => {
  // The receipt contains the text that the contract passed (go-iost `vm/native/gas.go` unpledge).
  const state = derive([pledge('alice00', 'bob0000', '100')], [pledge('alice00', 'bob0000', amount, 'unpledge')]).state
  expect(state.get(resources, 'bob0000')?.gas_pledge).toBe(1_000_000_000n)
  expect(state.all(pledges).map(({ amount: left }) => left)).toEqual([1_000_000_000n])
})

test('applyGas: the third decimal that pledges of eight decimals give stays until the gas is refreshed', () => {
  const first = pledge('alice00', 'bob0000', '10.00000008')
  const grown = { gas_limit: 3_000_000_024n, gas_stock: 1_000_000_008n }
  expect(derive([first]).state.get(resources, 'bob0000')).toMatchObject(grown)
  // 11.5000000920 gas grow in a second, and the sum is cut to two decimals: 1000011.5080000920.
  const spent = derive([first], [transaction({ publisher: 'bob0000', receipt: { gasUsage: 50n } })]).state
  expect(spent.get(resources, 'bob0000')?.gas_stock).toBe(1_000_011_500n - 500n)
  const small = () => pledge('alice00', 'bob0000', '1.00000001')
  const state = derive([small(), small(), small(), small()]).state
  expect(state.get(resources, 'bob0000')?.gas_limit).toBe(400_000_004n * 3n)
})

test('payGas: failed transactions pay, too, and the stock never falls below zero', () => {
  const stockAfter = (gasUsage: bigint) => {
    const failed = transaction({ publisher: 'bob0000', receipt: { statusCode: 'RUNTIME_ERROR', gasUsage } })
    return derive([pledge('alice00', 'bob0000', '10')], [failed]).state.get(resources, 'bob0000')?.gas_stock
  }
  expect([1_234n, 200_000_000n].map(stockAfter)).toEqual([1_000_000_000n + 11_500n - 12_340n, 0n])
})

const moved = (...args: readonly string[]) => transfer(...args, '')

/** A market of 1,000,000 bytes at 0.005 IOST each, in which 1,000 were bought for 5.01 IOST and a fee. */
function deriveMarket(...receipts: readonly ReturnType<typeof receipt>[]) {
  const first = genesis()
  const opened = { ...first, actions: [...first.actions, action('ram.iost/issue', [1_000_000, 600, 1, 0])] }
  const bought = sendReceipts(
    receipt('token.iost/issue', ['ram', 'ram.iost', '1000000']),
    moved('iost', 'alice00', 'ram.iost', '5.11'),
    moved('iost', 'ram.iost', 'deadaddr', '0.1'),
    moved('ram', 'ram.iost', 'alice00', '1000'),
  )
  const { state } = deriveChain(chainOf([opened], [bought], [transaction({ receipts })]))
  return { ram: state.get(statistics, STATISTICS)?.ram, alice: state.get(resources, 'alice00')?.ram_total }
}

test('deriveBlock: a sale of RAM whose price goes to the market itself is a sale, RAM that is lent to it is none', () => {
  const lent = moved('ram', 'alice00', 'ram.iost', '400')
  expect(deriveMarket().ram).toEqual({ left: '1999000', used: '1000', balance: '5005.01' })
  // The receiver may be any name that ends with `.iost` (go-iost `vm/host/host.go` IsValidAccount).
  for (const receiver of ['bob0000', 'ram.iost'])
    expect(deriveMarket(lent, moved('iost', 'ram.iost', receiver, '1'))).toEqual({
      ram: { left: '1999400', used: '600', balance: '5004.01' },
      alice: 600n,
    })
  const more = [
    moved('iost', 'alice00', 'ram.iost', '1'),
    moved('iost', 'ram.iost', 'deadaddr', '0.02'),
    moved('ram', 'ram.iost', 'alice00', '100'),
  ]
  expect(deriveMarket(lent, ...more).ram).toEqual({ left: '1998900', used: '1100', balance: '5005.99' })
})

/** Account alice00 after receipts of auth.iost, each given as a name and the arguments after the account. */
function after(...said: readonly (readonly [name: string, ...args: readonly unknown[]])[]) {
  const receipts = said.map(([name, ...args]) => receipt(`auth.iost/${name}`, ['alice00', ...args]))
  const { state } = derive([sendReceipts(...receipts)])
  const { permissions, groups } = state.get(accounts, 'alice00') ?? {}
  return { permissions: permissions?.filter(({ name }) => name !== 'active' && name !== 'owner'), groups }
}
const keyItem = (id: string, weight: string) => ({ id, is_key_pair: true, weight, permission: '' })
const accountItem = (id: string, permission: string, weight: string) => ({ id, is_key_pair: false, weight, permission })

test('applyAccount: assigning a key again changes its weight, assigning an account again adds it again', () => {
  const { permissions } = after(
    ['addPermission', 'perm', 1],
    ['assignPermission', 'perm', 'key1', 1],
    ['assignPermission', 'perm', 'bob0000@active', 2],
    ['assignPermission', 'perm', 'key1', 7],
    ['assignPermission', 'perm', 'bob0000@active', 8],
    // An item is found by its id alone, with any permission.
    ['assignPermission', 'perm', 'bob0000', 9],
  )
  const items = [keyItem('key1', '7'), accountItem('bob0000', 'active', '9'), accountItem('bob0000', 'active', '8')]
  expect(permissions).toEqual([{ name: 'perm', group_names: [], items, threshold: '1' }])
})

test('applyAccount: revoking removes the first item with that key, or with that account and permission', () => {
  const assigned = [
    ['addGroup', 'grp'],
    ...['bob0000@active', 'bob0000@owner', 'bob0000@active', 'bob0000@', 'key1', 'key1@'].map(
      (id, at) => ['assignGroup', 'grp', id, at + 1] as const,
    ),
  ] as const
  const leftAfter = (...ids: readonly string[]) => {
    const { groups } = after(...assigned, ...ids.map(id => ['revokeGroup', 'grp', id] as const))
    return groups?.[0]?.items.map(({ weight }) => weight).join('')
  }
  expect(after(...assigned).groups?.[0]?.items.slice(3)).toEqual([
    ...[accountItem('bob0000', '', '4'), keyItem('key1', '5'), accountItem('key1', '', '6')],
  ])
  expect(leftAfter('bob0000@active', 'key1')).toBe('2346')
  // No key with this name exists, so the account whose permission has no name stays.
  expect(leftAfter('bob0000')).toBe('123456')
  expect(leftAfter('key1@')).toBe('12345')
})

test('applyAccount: permissions keep the name of a dropped group until it is revoked there', () => {
  const said = [
    ['addPermission', 'perm', 1],
    ['addGroup', 'grp'],
    ['assignPermissionToGroup', 'perm', 'grp'],
    ['assignPermissionToGroup', 'perm', 'grp'],
    ['dropGroup', 'grp'],
  ] as const
  const named = (names: readonly string[]) => ({
    permissions: [{ name: 'perm', group_names: names, items: [], threshold: '1' }],
    groups: [],
  })
  expect(after(...said)).toEqual(named(['grp', 'grp']))
  expect(after(...said, ['revokePermissionInGroup', 'perm', 'grp'])).toEqual(named(['grp']))
  expect(after(...said, ['dropPermission', 'perm'])).toEqual({ permissions: [], groups: [] })
})

test('applyAccount: a receipt of an account that never signed up stops the load', () => {
  const tx = sendReceipts(receipt('auth.iost/addGroup', ['nobody0', 'grp']))
  expect(() => derive([tx])).toThrow('addGroup of "nobody0", which was never registered.')
})

/** A length-delimited protobuf field. */
function field(number: number, value: string | Uint8Array): Uint8Array {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7]
  return Uint8Array.from([(number << 3) | 2, ...length, ...bytes])
}
/** A contract's code as the chain stores it. */
function encoded(version: string): string {
  const limit = Buffer.concat([field(1, 'iost'), field(2, '100')])
  const abi = Buffer.concat([field(1, 'transfer'), field(2, 'string'), field(2, 'number'), field(3, limit)])
  const info = [field(1, 'javascript'), field(2, version), field(3, abi), field(3, field(1, 'other'))]
  const contract = [field(1, 'x.iost'), field(2, Buffer.concat(info)), field(3, 'c'.repeat(300))]
  return Buffer.concat(contract).toString('base64')
}
const abis = [
  { name: 'transfer', args: ['string', 'number'], amount_limit: [{ token: 'iost', value: '100' }] },
  { name: 'other', args: [], amount_limit: [] },
]

test('parseDeployedContract: reads JSON with keys in any case, as Go does, and no broken code', () => {
  const abi = [{ Name: 'a', args: null, AmountLimit: [{ token: '*', val: 'unlimited' }] }]
  const info = { lang: 'javascript', VERSION: '2', abi }
  expect(parseDeployedContract(JSON.stringify({ id: 'x.iost', Code: 'class A {}', Info: info }))).toEqual({
    ...{ id: 'x.iost', language: 'javascript', version: '2', code: 'class A {}' },
    abis: [{ name: 'a', args: [], amount_limit: [{ token: '*', value: 'unlimited' }] }],
  })
  expect(['', '{"ID":', 'AAA='].map(parseDeployedContract)).toEqual([undefined, undefined, undefined])
})

describe('deriveBlock: code of system contracts', () => {
  test("deriveBlock: the version comes from the chain, and the node's code is used where the chain has none", () => {
    const first = genesis()
    const created = action('system.iost/initSetCode', ['vote.iost', encoded('1.0.0')])
    const native = sendActions(action('system.iost/updateNativeCode', ['token.iost', '1.0.2', '']))
    const blocks = chainOf([{ ...first, actions: [...first.actions, created] }], [native])
    const code = { id: 'token.iost', language: 'native', version: '1.0.6', abis: [] }
    const { state } = deriveChain(blocks.map(loaded => ({ ...loaded, systemCode: [code] })))
    expect(state.get(contracts, 'token.iost')).toMatchObject({ version: '1.0.2', language: 'native', owner: 'admin' })
    expect(state.get(contracts, 'vote.iost')).toMatchObject({ version: '1.0.0', abis })
    const versions = new Map(state.get(statistics, STATISTICS)?.versions)
    expect([versions.get('token.iost'), versions.get('vote.iost')]).toEqual(['1.0.2', '1.0.0'])
  })

  test('deriveBlock: text after the arguments is ignored, as is a comma before the last bracket', () => {
    const code = (version: string, ID?: string) =>
      JSON.stringify({ ID, info: { lang: 'javascript', version, abi: [] }, code: `class A${version} {}` })
    const deploy = sendActions(action('system.iost/setCode', `${JSON.stringify([code('1')])} ;`))
    const id = `Contract${deploy.hash}`
    const update = sendActions(action('system.iost/updateCode', `[${JSON.stringify(code('2', id))},"",]`))
    const { state, documents } = derive([deploy], [update])
    expect(documents[1]?.records.map(({ deployed }) => deployed)).toEqual([id])
    expect(state.get(contracts, id)).toMatchObject({ version: '2', height: 1, code_at: [2, 1, 0] })
  })

  test('deriveBlock: updateNativeCode takes the code of its version, else the code that it brings', () => {
    const info = { lang: 'native', version: '1.0.9', abi: [{ name: 'given', args: [] }] }
    const given = JSON.stringify({ ID: 'gas.iost', info })
    const update = (...args: readonly string[]) => sendActions(action('system.iost/updateNativeCode', args))
    const native = { id: 'token.iost', language: 'native', version: '1.0.6', abis }
    const chain = chainOf([genesis()], [update('token.iost', '1.0.2', given)], [update('', '', given)])
    const { state } = deriveChain(chain.map(loaded => ({ ...loaded, systemCode: [native] })))
    expect(state.get(contracts, 'token.iost')).toMatchObject({ version: '1.0.2', abis })
    const abi = { name: 'given', args: [], amount_limit: [] }
    expect(state.get(contracts, 'gas.iost')).toMatchObject({ version: '1.0.9', abis: [abi] })
  })
})
