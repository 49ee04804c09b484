import { expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { listOf, lists, toPlace } from '#indices/list.ts'
import { transactionId } from '#indices/position.ts'
import { resources } from '#indices/resource.ts'
import { tokens } from '#indices/token.ts'
import { listStretches, RUN_LENGTH, transactionRuns } from '#indices/transaction-run.ts'
import { votes } from '#indices/vote.ts'
import { type DerivedChain, deriveChain } from '#test/support/stores/derived-chain.ts'
import {
  action,
  chainOf,
  createToken,
  genesis,
  hashOf,
  receipt,
  SECOND,
  transaction,
} from '#test/support/stores/hand-made.ts'
import { balance, count, derive, FIRST, freeze, rowsOf, transfer } from '#test/support/stores/hand-made-derived.ts'

// `test/answers` compares the rows and lists of the recording, `test/generator` those of generated chains.

/** Ids of a list's rows, sorted by their places. */
function idsOf({ state, documents }: DerivedChain, key: string): string[] {
  const { number = 0, count: rows = 0 } = state.get(lists, key) ?? {}
  const all = documents.flatMap(({ records }) => records)
  return Array.from({ length: rows }, (_, at) => {
    const place = toPlace(number, at + 1)
    const found = all.filter(({ places }) => places.includes(place))
    return found.map(({ id }) => id).join(' and ')
  })
}

const failed = { statusCode: 'RUNTIME_ERROR', returns: [] }

/** Ids of the transactions of a chain, read from its runs. */
const idsInRuns = ({ state }: DerivedChain): string[] =>
  state
    .all(transactionRuns)
    .toSorted((a, b) => Number(a.id) - Number(b.id))
    .flatMap(listStretches)
    .flatMap(({ height, first, count: rows }) =>
      Array.from({ length: rows }, (_, at) => transactionId(height, first + at)),
    )

test('deriveBlock: names such as __proto__ are handled like other names', () => {
  const names = ['__proto__', 'constructor', '12345', 'undefined']
  const chain = derive([
    transaction({
      receipts: [
        createToken('__proto__', 1),
        ...names.map(name => receipt('auth.iost/signUp', [name, '', ''])),
        ...names.map(name => receipt('token.iost/issue', ['__proto__', name, '2.5'])),
      ],
    }),
  ])
  expect(names.map(name => balance(chain, `__proto__/${name}`).amount)).toEqual([25n, 25n, 25n, 25n])
  expect(names.map(name => chain.state.get(accounts, name)?.name)).toEqual(names)
  expect(names.map(name => count(chain, listOf.account(name)))).toEqual([2, 2, 2, 2])
  const { holder_count, current_supply } = chain.state.get(tokens, '__proto__') ?? {}
  expect({ holder_count, current_supply }).toEqual({ holder_count: 4, current_supply: 100n })
})

test('deriveBlock: the configuration of a token is read as Go reads it', () => {
  const create = (symbol: string, config: string) =>
    receipt('token.iost/create', [symbol, 'admin', 10, Buffer.from(config).toString('base64')])
  const chain = derive([
    transaction({
      receipts: [
        create('below', '{"decimal":-0.5,"fullName":"a\\ud83d"}'),
        create('minus', '{"decimal":-0}'),
        create('half', '{"decimal":2.5,"decimal":1.999,"fullName":""}'),
      ],
    }),
  ])
  const told = ['below', 'minus', 'half'].map(symbol => {
    const { decimal, full_name, total_supply } = chain.state.get(tokens, symbol) ?? {}
    return [decimal, full_name, total_supply]
  })
  expect(told).toStrictEqual([
    [0, 'a\ufffd', 10n],
    [0, 'minus', 10n],
    [1, '', 100n],
  ])
})

test('deriveBlock: numbers near 2^63 keep all digits', () => {
  const config = Buffer.from('{"decimal":0}').toString('base64')
  const chain = derive([
    transaction({
      receipts: [
        receipt('token.iost/create', `["maxcap","admin",9223372036854775807,"${config}"]`),
        receipt('token.iost/issue', ['maxcap', 'bob0000', '9223372036854775807']),
        freeze('alice00', 'bob0000', '1', 1_803_427_506_900_000_001n),
      ],
    }),
  ])
  expect(chain.state.get(tokens, 'maxcap')?.total_supply).toBe(9_223_372_036_854_775_807n)
  expect(balance(chain, 'maxcap/bob0000').amount).toBe(9_223_372_036_854_775_807n)
  expect(balance(chain, 'iost/bob0000')).toEqual({
    amount: 0n,
    frozen: 100_000_000n,
    frozen_list: [['100000000', '1803427506900000001']],
    next_due: 1_803_427_506_900_000_001n,
  })
})

test('deriveBlock: a transfer to oneself moves nothing and is one row, once in each list', () => {
  const args = ['iost', 'alice00', 'alice00', '7', 'self']
  const chain = derive([transaction({ actions: [action('token.iost/transfer', args)], receipts: [transfer(...args)] })])
  expect(balance(chain, 'iost/alice00').amount).toBe(100_000_000_000n)
  const [row] = rowsOf(chain, 1)
  expect([row?.from, row?.to, row?.amount]).toEqual(['alice00', 'alice00', '7'])
  const lists = row?.places.map(place => place >> 32n) ?? []
  expect([lists.length > 0, new Set(lists).size]).toEqual([true, lists.length])
})

test('deriveBlock: handles freezes to oneself, in the past, and due at a later block', () => {
  const lists = [
    [
      transaction({
        receipts: [
          freeze('alice00', 'alice00', '3', FIRST + 2n * SECOND),
          freeze('alice00', 'alice00', '2', FIRST + SECOND),
          freeze('alice00', 'alice00', '1', FIRST + SECOND),
          freeze('alice00', 'bob0000', '4', FIRST),
          freeze('alice00', 'bob0000', '5', 1_551_398_400_000n),
        ],
      }),
    ],
    [],
    [],
  ]
  const after = (blocks: number, id = 'iost/alice00') => balance(derive(...lists.slice(0, blocks)), id)
  expect(after(1, 'iost/bob0000')).toEqual({
    amount: 900_000_000n,
    frozen: 0n,
    frozen_list: [],
    next_due: undefined,
  })
  // Sorted by time, then amount, in the node's order.
  expect(after(1)).toEqual({
    amount: 98_500_000_000n,
    frozen: 600_000_000n,
    frozen_list: [
      ['100000000', String(FIRST + SECOND)],
      ['200000000', String(FIRST + SECOND)],
      ['300000000', String(FIRST + 2n * SECOND)],
    ],
    next_due: FIRST + SECOND,
  })
  expect(after(2)).toEqual({
    amount: 98_800_000_000n,
    frozen: 300_000_000n,
    frozen_list: [['300000000', String(FIRST + 2n * SECOND)]],
    next_due: FIRST + 2n * SECOND,
  })
  expect(after(3)).toEqual({ amount: 99_100_000_000n, frozen: 0n, frozen_list: [], next_due: undefined })
})

test('deriveBlock: an amount sent to a name that the contract cannot store is lost, but stays in the supply', () => {
  const kept = ['', 'a/b', 'Contract x', 'x'.repeat(62)]
  const gone = ['a-b', 'a@b', 'é', 'nul\0', 'x'.repeat(63), `Contract${'1'.repeat(600)}`]
  const chain = derive(
    [transaction({ receipts: [createToken('odd', 0)] })],
    [...kept, ...gone].map(name =>
      transaction({
        receipts: [receipt('token.iost/issue', ['odd', name, '1']), transfer('iost', 'alice00', name, '1', '')],
      }),
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
  const { state } = derive([
    transaction({
      receipts: totals.map((total, at) => receipt('token.iost/create', `["t${at}","alice00",${total},"${config}"]`)),
    }),
  ])
  expect(totals.map((_, at) => state.get(tokens, `t${at}`)?.total_supply)).toEqual([
    -500_000_000n,
    0n,
    100_000_000n,
    9_223_372_036_800_000_000n,
  ])
})

test('deriveBlock: a movement of more than the balance stops the load', () => {
  expect(() => derive([transaction({ receipts: [transfer('iost', 'bob0000', 'alice00', '1', '')] })])).toThrow(
    'Block 1 takes more iost from "bob0000" than it has: -100000000 would be left.',
  )
})

test('deriveBlock: RAM is paid by accounts and by owners of contracts, and by nobody for system contracts', () => {
  const code = JSON.stringify({ ID: '', info: { lang: 'javascript', version: '1', abi: [] }, code: '' })
  const deploy = transaction({ actions: [action('system.iost/setCode', [code])] })
  const chain = derive([
    deploy,
    transaction({
      publisher: 'bob0000',
      receipt: {
        ramUsage: [
          [`Contract${deploy.hash}`, 100n],
          ['auth.iost', 5_000n],
          ['alice00', -40n],
        ],
      },
    }),
  ])
  expect(balance(chain, 'ram/alice00').amount).toBe(99_940n)
  expect(chain.state.get(resources, 'alice00')?.ram_used).toBe(60n)
  expect(chain.state.get(resources, 'auth.iost')).toBeUndefined()
})

test('deriveBlock: a contract deployed by a contract is owned by the publisher, who pays its RAM', () => {
  const make = (told: Parameters<typeof transaction>[0]) =>
    transaction({ actions: [action('ContractFactory/make', ['code'])], ...told })
  const byReturn = make({})
  const id = `Contract${byReturn.hash}`
  const byRam = make({})
  const other = `Contract${byRam.hash}`
  const [first, then] = chainOf(
    [genesis()],
    [
      { ...byReturn, receipt: { ...byReturn.receipt, returns: [`["[\\"${id}\\"]"]`] } },
      {
        ...byRam,
        receipt: {
          ...byRam.receipt,
          ramUsage: [
            ['alice00', 142n],
            [other, 114n],
          ],
        },
      },
      transaction({ publisher: 'bob0000', receipt: { ramUsage: [[id, 160n]] } }),
    ],
  )
  const abis = [{ name: 'put', args: ['string'], amount_limit: [] }]
  // The node returns the code of one of them.
  const code = { id, language: 'javascript', version: '1.0.0', abis }
  const chain = deriveChain([first, then].flatMap(one => (one ? [{ ...one, systemCode: [code] }] : [])))
  expect(chain.state.get(contracts, id)).toMatchObject({ owner: 'alice00', language: 'javascript', abis })
  expect(balance(chain, 'ram/alice00').amount).toBe(100_000n - 142n - 114n - 160n)
  expect(chain.state.get(contracts, other)).toMatchObject({
    owner: 'alice00',
    publisher: 'alice00',
    abis: [],
  })
  expect(rowsOf(chain, 1).map(({ deployed }) => deployed)).toEqual([id, other])
  expect(count(chain, listOf.contracts)).toBe(7)
})

test('deriveBlock: two identical actions own one receipt each, a third movement is a row of its own', () => {
  const args = ['zero', 'alice00', 'bob0000', '1', '']
  const chain = derive([
    transaction({ receipts: [receipt('token.iost/issue', ['zero', 'alice00', '9'])] }),
    transaction({
      actions: [
        action('token.iost/transfer', args),
        action('token.iost/transfer', '[ "zero","alice00","bob0000","1.9","" ]'),
      ],
      receipts: [transfer(...args), transfer(...args), transfer(...args)],
    }),
  ])
  const rows = rowsOf(chain, 1).filter(({ tx }) => tx === 2)
  expect(rows.map(({ index, amount, receipt: at, data }) => [index, amount, at, data])).toEqual([
    [0, '1', undefined, '["zero","alice00","bob0000","1",""]'],
    [1, '1', undefined, '[ "zero","alice00","bob0000","1.9","" ]'],
    [2, '1', 2, '["zero","alice00","bob0000","1",""]'],
  ])
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

test('deriveBlock: receipts of user contracts named like system contracts move nothing', () => {
  const id = `Contract${hashOf('someone')}`
  const chain = derive([
    transaction({
      actions: [action(`${id}/transfer`, ['iost', 'alice00', 'bob0000', '5', ''])],
      receipts: [
        receipt(`${id}/transfer`, ['iost', 'alice00', 'bob0000', '5', '']),
        receipt(`${id}/signUp`, ['eve0000', '', '']),
        receipt(`${id}/vote`, ['alice00', 'bob0000', '5']),
      ],
    }),
  ])
  expect(balance(chain, 'iost/bob0000').amount).toBeUndefined()
  expect(chain.state.get(accounts, 'eve0000')).toBeUndefined()
  expect(chain.state.all(votes)).toEqual([])
  expect(rowsOf(chain, 1).map(({ from, to }) => [from, to])).toEqual([['alice00', id]])
  // The contract was never deployed, so only the account's lists have the row.
  expect(count(chain, listOf.contract(id))).toBeUndefined()
  expect(count(chain, listOf.account(id))).toBe(1)
})

test('deriveBlock: a failed action may contain any arguments', () => {
  const failed = (name: string, data: string | readonly unknown[]) =>
    transaction({ actions: [action(name, data)], receipt: { statusCode: 'RUNTIME_ERROR', returns: [] } })
  const chain = derive([
    failed('token.iost/transfer', ['iost', 'bob0000', 'carol00', '1e999', '']),
    failed('token.iost/transfer', ['iost', '<b>', 'carol00', '1', '']),
    failed('token.iost/transfer', '{"not":"a list"}'),
    failed('token.iost/no such action!', []),
    failed('weird name/x', 'free text'),
    failed('auth.iost/signUp', ['newone0', '', '']),
    failed('vote_producer.iost/vote', ['bob0000', 'carol00', '1']),
  ])
  expect(rowsOf(chain, 1).map(({ from, to, places }) => [from, to, places.length])).toEqual([
    // The lists of the publisher count, too.
    ['bob0000', 'carol00', 9],
    ['alice00', 'token.iost', 7],
    ['alice00', 'token.iost', 7],
    ['alice00', 'token.iost', 5],
    ['alice00', 'weird name', 2],
    ['alice00', 'newone0', 7],
    ['bob0000', 'carol00', 9],
  ])
  expect(
    chain.state
      .all(lists)
      .filter(({ id }) => /weird|no such|created/.test(id))
      .map(({ id }) => id),
  ).toEqual(['created/deadaddr'])
  expect(rowsOf(chain, 1).every(({ creator, amount }) => creator === undefined && amount === undefined)).toBe(true)
})

test('deriveBlock: 60 KB of free text are stored in the transaction', () => {
  const long = 'é'.repeat(30_000)
  const chain = derive([
    transaction({
      actions: [action('system.iost/receipt', [long])],
      receipts: [receipt('system.iost/receipt', long)],
    }),
    transaction({ actions: [action(`${long}/x`, [])], receipt: { statusCode: 'RUNTIME_ERROR' } }),
    transaction({ actions: [action('system.iost/receipt', `["${'x'.repeat(4_096 - 11 - 7 - 4 - 2)}"]`)] }),
    transaction({ actions: [action('system.iost/receipt', `["${'x'.repeat(4_096 - 11 - 7 - 4 - 1)}"]`)] }),
  ])
  const rows = rowsOf(chain, 1)
  expect(
    rows.map(({ contract, action_name, data, to, overflow }) => [contract, action_name, data.length, to, overflow]),
  ).toEqual([
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
  expect(
    rowsOf(chain, 1)
      .filter(({ receipt: at }) => at === undefined)
      .every(row => row.amount === '0.00000001'),
  ).toBe(true)
  expect(rowsOf(chain, 1).length).toBe(2 * size)
})

test('deriveBlock: runs hold all transactions except base ones, in order and full except the last, for any sizes of blocks', () => {
  const sent = (amount: number) => Array.from({ length: amount }, () => transaction({}))
  const chain = derive(sent(3), [], sent(251), [], sent(1), sent(2 * RUN_LENGTH + 5), sent(0), sent(1))
  const all = chain.documents.flatMap(({ transactions }) => transactions.map(({ id }) => id))
  expect(all.length).toBe(1 + 3 + 251 + 1 + 517 + 1)
  expect(idsInRuns(chain)).toEqual(all)
  const runs = chain.state.all(transactionRuns)
  const sizes = runs.map(run => listStretches(run).reduce((sum, { count: rows }) => sum + rows, 0))
  expect(sizes).toEqual([RUN_LENGTH, RUN_LENGTH, RUN_LENGTH, 6])
  expect(runs.map(({ id }) => id)).toEqual(['0', '1', '2', '3'])
})

test("deriveBlock: a movement to an invalid name is in the token's list and, among the lists with the token, in the sender's", () => {
  const chain = derive([transaction({ receipts: [transfer('iost', 'alice00', 'no name!', '1', '')] })])
  const [row] = rowsOf(chain, 1)
  expect([row?.from, row?.to]).toEqual(['alice00', 'token.iost'])
  expect(idsOf(chain, listOf.token('iost')).at(-1)).toBe(row?.id ?? '')
  expect(idsOf(chain, listOf.moved('alice00', 'iost')).at(-1)).toBe(row?.id ?? '')
  expect(count(chain, listOf.moved('token.iost', 'iost'))).toBeUndefined()
  expect(count(chain, listOf.moved('no name!', 'iost'))).toBeUndefined()
})

test('deriveBlock: the list of contracts has the row of each deployment, once and in the order of the chain', () => {
  const code = (id: string) => JSON.stringify({ ID: id, info: { lang: 'javascript', version: '1', abi: [] } })
  const deploy = transaction({ actions: [action('system.iost/setCode', [code('')])] })
  const other = `Contract${hashOf('another transaction')}`
  const delayed = transaction({
    actions: [action('system.iost/setCode', [code('')]), action('system.iost/setCode', [code('')])],
    receipt: { returns: [`["${other}"]`, `["${other}"]`] },
  })
  const chain = derive([
    transaction({ actions: [action('system.iost/setCode', [code('')])], receipt: failed }),
    deploy,
    transaction({ actions: [action('system.iost/updateCode', [code(`Contract${deploy.hash}`), ''])] }),
    delayed,
  ])
  const deployed = chain.documents.flatMap(({ records }) => records).filter(row => row.deployed !== undefined)
  expect(deployed.map(row => row.deployed)).toEqual([
    'token.iost',
    'auth.iost',
    'gas.iost',
    'vote_producer.iost',
    'ram.iost',
    `Contract${deploy.hash}`,
    other,
  ])
  expect(idsOf(chain, listOf.contracts)).toEqual(deployed.map(({ id }) => id))
})
