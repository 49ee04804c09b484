import { describe, expect, test } from 'bun:test'
import { listOf, lists, toPlace } from '#indices/list.ts'
import { transactionId } from '#indices/position.ts'
import type { RecordDoc } from '#indices/record.ts'
import { listStretches, RUN_LENGTH, transactionRuns } from '#indices/transaction-run.ts'
import type { DerivedChain } from '#test/support/stores/derived-chain.ts'
import { action, createToken, hashOf, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { count, derive, rowsOf, transfer } from '#test/support/stores/hand-made-derived.ts'

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

const idsIn = (rows: readonly RecordDoc[], ...at: readonly number[]): string[] => at.map(index => rows[index]?.id ?? '')

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

describe('lists', () => {
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

  test("deriveBlock: each movement is in the list of its token, and in each party's list with the token", () => {
    const args = ['iost', 'alice00', 'bob0000', '1', '']
    const chain = derive([
      transaction({ receipts: [receipt('token.iost/issue', ['zero', 'bob0000', '9'])] }),
      transaction({
        actions: [action('token.iost/transfer', args)],
        receipts: [transfer(...args), transfer('zero', 'bob0000', 'carol00', '2', '')],
      }),
      transaction({ receipts: [receipt('token.iost/destroy', ['zero', 'bob0000', '1'])] }),
      transaction({ actions: [action('token.iost/transfer', args)], receipt: failed }),
    ])
    const rows = rowsOf(chain, 1)
    expect(rows.map(({ action_name, amount }) => [action_name, amount])).toEqual([
      ['issue', '9'],
      ['transfer', '1'],
      ['transfer', '2'],
      ['destroy', '1'],
      ['transfer', undefined],
    ])
    // The first row is the issue of iost to alice00 in genesis.
    expect(idsOf(chain, listOf.token('iost')).slice(1)).toEqual(idsIn(rows, 1))
    expect(idsOf(chain, listOf.token('zero'))).toEqual(idsIn(rows, 0, 2, 3))
    expect(idsOf(chain, listOf.moved('alice00', 'iost')).slice(1)).toEqual(idsIn(rows, 1))
    expect(idsOf(chain, listOf.moved('bob0000', 'iost'))).toEqual(idsIn(rows, 1))
    expect(idsOf(chain, listOf.moved('bob0000', 'zero'))).toEqual(idsIn(rows, 0, 2, 3))
    expect(idsOf(chain, listOf.moved('carol00', 'zero'))).toEqual(idsIn(rows, 2))
    expect(count(chain, listOf.moved('carol00', 'iost'))).toBeUndefined()
    // bob0000 received both tokens, and sent or destroyed one of them.
    expect(idsOf(chain, listOf.received('bob0000'))).toEqual(idsIn(rows, 0, 1))
    expect(idsOf(chain, listOf.receivedOf('bob0000', 'iost'))).toEqual(idsIn(rows, 1))
    expect(idsOf(chain, listOf.receivedOf('bob0000', 'zero'))).toEqual(idsIn(rows, 0))
    expect(idsOf(chain, listOf.received('carol00'))).toEqual(idsIn(rows, 2))
  })

  test('deriveBlock: a publisher that moves a token for others is not in the list of movers', () => {
    const args = ['iost', 'alice00', 'carol00', '1', '']
    const chain = derive([
      transaction({
        publisher: 'bob0000',
        actions: [action('token.iost/transfer', args)],
        receipts: [transfer(...args)],
      }),
    ])
    const [row] = rowsOf(chain, 1)
    expect(idsOf(chain, listOf.account('bob0000')).at(-1)).toBe(row?.id ?? '')
    expect(count(chain, listOf.moved('bob0000', 'iost'))).toBeUndefined()
    expect(idsOf(chain, listOf.moved('carol00', 'iost'))).toEqual([row?.id ?? ''])
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

  test('deriveBlock: rows of a failed transaction are in the failed lists of their accounts, and no other rows are', () => {
    const args = ['iost', 'alice00', 'carol00', '1', '']
    const publisher = 'bob0000'
    const pay = action('token.iost/transfer', args)
    const chain = derive([
      transaction({ publisher, actions: [pay], receipts: [transfer(...args)] }),
      transaction({
        publisher,
        actions: [pay, action('token.iost/destroy', ['iost', 'dave000', '1'])],
        receipt: failed,
      }),
      transaction({ publisher, actions: [pay], delay: 9n }),
    ])
    const rows = rowsOf(chain, 1)
    expect(rows.length).toBe(4)
    for (const name of ['alice00', 'bob0000', 'carol00', 'dave000'])
      expect([name, idsOf(chain, listOf.failed(name))]).toEqual([
        name,
        rows
          .filter(({ id }) => idsOf(chain, listOf.account(name)).includes(id))
          .filter(({ status_code }) => status_code === 'RUNTIME_ERROR')
          .map(({ id }) => id),
      ])
    expect(idsOf(chain, listOf.failed('carol00'))).toEqual(idsIn(rows, 1))
    expect(idsOf(chain, listOf.failed('dave000'))).toEqual(idsIn(rows, 2))
  })

  test("deriveBlock: an action is in its publisher's list of calls, and in nobody else's", () => {
    const args = ['iost', 'alice00', 'carol00', '1', '']
    const publisher = 'bob0000'
    const pay = action('token.iost/transfer', args)
    const chain = derive([
      transaction({
        publisher,
        actions: [pay, action('token.iost/no name', []), action('Contractunknown1/play', [])],
        receipts: [transfer(...args), transfer('iost', 'alice00', 'carol00', '2', '')],
      }),
      transaction({ publisher, actions: [pay], receipt: failed }),
    ])
    const rows = rowsOf(chain, 1)
    expect(rows.length).toBe(5)
    expect(idsOf(chain, listOf.called(publisher, 'token.iost/transfer'))).toEqual(idsIn(rows, 0, 4))
    for (const name of ['alice00', 'carol00'])
      expect(count(chain, listOf.called(name, 'token.iost/transfer'))).toBeUndefined()
    expect(count(chain, listOf.called(publisher, 'token.iost/no name'))).toBeUndefined()
    expect(count(chain, listOf.called(publisher, 'Contractunknown1/play'))).toBeUndefined()
  })

  test('deriveBlock: tokens whose names are members of JavaScript objects have lists', () => {
    const names = ['__proto__', 'constructor']
    const chain = derive([
      transaction({
        receipts: names.flatMap(name => [createToken(name, 1), receipt('token.iost/issue', [name, '__proto__', '1'])]),
      }),
    ])
    const counts = names.flatMap(name => [listOf.token(name), listOf.moved('__proto__', name)])
    expect(counts.map(key => count(chain, key))).toEqual([1, 1, 1, 1])
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
})
