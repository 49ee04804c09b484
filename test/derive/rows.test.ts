import { describe, expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { listOf, lists } from '#indices/list.ts'
import { votes } from '#indices/vote.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'
import { action, chainOf, createToken, genesis, hashOf, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { balance, count, derive, FIRST, freeze, rowsOf, transfer } from '#test/support/stores/hand-made-derived.ts'

describe('rows', () => {
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

  test('deriveBlock: a sign-up is in the list of its creator, as an action and nested', () => {
    const args = ['newone0', 'owner', 'active']
    const chain = derive([
      transaction({
        actions: [action('auth.iost/signUp', args)],
        receipts: [receipt('auth.iost/signUp', args)],
      }),
      transaction({
        publisher: 'bob0000',
        actions: [action('exchange.iost/transfer', ['iost', '', '100', 'create:newone1:k:k'])],
        receipts: [receipt('auth.iost/signUp', ['newone1', 'k', 'k'])],
      }),
    ])
    expect(rowsOf(chain, 1).map(({ index, from, to, creator, receipt: at }) => [index, from, to, creator, at])).toEqual(
      [
        [0, 'alice00', 'newone0', 'alice00', undefined],
        [0, 'bob0000', 'exchange.iost', undefined, undefined],
        [1, 'bob0000', 'newone1', 'bob0000', 0],
      ],
    )
    expect([count(chain, listOf.created('alice00')), count(chain, listOf.created('bob0000'))]).toEqual([1, 1])
  })

  test('deriveBlock: transactions without actions have no rows', () => {
    const chain = derive([transaction({})])
    expect([rowsOf(chain, 1).length, chain.documents[1]?.transactions.length]).toEqual([0, 1])
  })

  test('deriveBlock: inflation in a base transaction has rows, its contribute has none', () => {
    const blocks = chainOf([genesis(), transaction({ receipts: [createToken('contribute', 8)] })], [])
    const [first, second] = blocks
    if (first === undefined || second === undefined) throw new Error('Two blocks were made.')
    const base = transaction({
      publisher: 'base.iost',
      actions: [action('base.iost/exec', [{ parent: ['key', '0', false] }])],
      receipts: [
        receipt('token.iost/issue', ['iost', 'bonus.iost', '12.5']),
        receipt('token.iost/issue', ['contribute', 'bob0000', '3.28513441']),
      ],
    })
    const chain = deriveChain([first, { ...second, block: { ...second.block, transactions: [base] } }])
    expect(rowsOf(chain, 1).map(({ index, from, to, amount, receipt: at }) => [index, from, to, amount, at])).toEqual([
      [1, '', 'bonus.iost', '12.5', 0],
    ])
    expect(balance(chain, 'contribute/bob0000').amount).toBe(328_513_441n)
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
})
