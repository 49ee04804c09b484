import { describe, expect, test } from 'bun:test'
import type { Transaction } from '#chain/block.ts'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { listOf, lists } from '#indices/list.ts'
import { producers } from '#indices/producer.ts'
import { resources } from '#indices/resource.ts'
import { series, seriesOf } from '#indices/series.ts'
import { parsePackedNumber } from '#indices/series-entry.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { votes } from '#indices/vote.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'
import { action, chainOf, createToken, genesis, receipt, SECOND, transaction } from '#test/support/stores/hand-made.ts'

const vote = (name: string, args: readonly unknown[]) => action(`vote_producer.iost/${name}`, args)

const derive = (...lists: readonly (readonly Transaction[])[]) => deriveChain(chainOf([genesis()], ...lists))
const transfer = (from: string, to: string, amount: string) =>
  receipt('token.iost/transfer', ['iost', from, to, amount, ''])

describe('before block 38,500,000', () => {
  test('deriveBlock: a failed transaction with receipts changes nothing and only has rows of its actions', () => {
    const args = ['iost', 'alice00', 'bob0000', '5', '']
    const tx = transaction({
      actions: [action('token.iost/transfer', args)],
      receipts: [receipt('token.iost/transfer', args)],
      receipt: { statusCode: 'BALANCE_NOT_ENOUGH' },
    })
    const { state, documents } = derive([tx])
    expect(state.get(balances, 'iost/alice00')?.amount).toBe(100_000_000_000n)
    expect(state.get(balances, 'iost/bob0000')).toBeUndefined()
    expect(
      documents[1]?.records.map(({ index, status_code, amount, receipt: at }) => [index, status_code, amount, at]),
    ).toEqual([[0, 'BALANCE_NOT_ENOUGH', undefined, undefined]])
  })

  test('deriveBlock: a failed sign-up with a receipt creates no account', () => {
    const args = ['dave000', 'owner', 'active']
    const tx = transaction({
      actions: [action('auth.iost/signUp', args)],
      receipts: [receipt('auth.iost/signUp', args)],
      receipt: { statusCode: 'RUNTIME_ERROR' },
    })
    const { state, documents } = derive([tx])
    expect(state.get(accounts, 'dave000')).toBeUndefined()
    expect(state.get(lists, listOf.created('alice00'))).toBeUndefined()
    expect(state.get(lists, listOf.failed('alice00'))?.count).toBe(1)
    expect(documents[1]?.records.map(({ index, to, creator }) => [index, to, creator])).toEqual([
      [0, 'dave000', undefined],
    ])
  })
})

describe('token.iost of earlier years', () => {
  test('deriveBlock: amounts are parsed as contract version 1.0.0 parsed them', () => {
    const raw = action('token.iost/transfer', ['iost', 'alice00', 'bob0000', '1.20294517598E7', ''])
    const { state, documents } = derive([
      transaction({ actions: [raw], receipts: [transfer('alice00', 'bob0000', '1.20294517598E7')] }),
      transaction({ receipts: [transfer('alice00', 'bob0000', '0001.500')] }),
    ])
    expect(state.get(balances, 'iost/bob0000')?.amount).toBe(120_294_517n + 150_000_000n)
    expect(documents[1]?.records.map(({ index, amount }) => [index, amount])).toEqual([
      [0, '1.20294517'],
      [0, '1.5'],
    ])
  })

  test('deriveBlock: updateTotalSupply is read from the action, recycle clears the issuer, symbols may contain a point', () => {
    const { state } = derive(
      [
        transaction({
          receipts: [createToken('bobns.tok', 2), receipt('token.iost/transferNamespace', ['bobns', 'a', 'b'])],
        }),
      ],
      [
        transaction({ actions: [action('token.iost/updateTotalSupply', ['bobns.tok', 7])] }),
        transaction({
          actions: [action('token.iost/updateTotalSupply', ['bobns.tok', 9])],
          receipt: { statusCode: 'RUNTIME_ERROR' },
        }),
        transaction({ receipts: [receipt('token.iost/recycle', ['bobns.tok'])] }),
      ],
    )
    const { issuer, total_supply } = state.get(tokens, 'bobns.tok') ?? {}
    expect({ issuer, total_supply }).toEqual({ issuer: '', total_supply: 700n })
  })
})

describe('a symbol that is created again', () => {
  const symbol = 'husd'
  const issued = (owner: string, amount: string) => receipt('token.iost/issue', [symbol, owner, amount])
  const first = transaction({
    receipts: [createToken(symbol, 2), issued('alice00', '5'), issued('bob0000', '1')],
  })
  const recycle = receipt('token.iost/recycle', [symbol])
  const again = receipt('token.iost/create', [symbol, 'carol00', 70, 'eyJkZWNpbWFsIjoxfQ=='])

  test.each([
    ['in a later block', [[first], [transaction({ receipts: [recycle] })], [transaction({ receipts: [again] })]]],
    ['in the block of its recycling', [[first], [transaction({ receipts: [recycle, again] })]]],
    ['in its first block', [[first, transaction({ receipts: [recycle] }), transaction({ receipts: [again] })]]],
  ])('deriveBlock: it is one token, whose owners keep what they had: %s', (_, lists) => {
    const after = transaction({
      receipts: [issued('carol00', '3'), receipt('token.iost/transfer', [symbol, 'bob0000', 'carol00', '10', ''])],
    })
    const { state } = derive(...lists, [after])
    // Numbers of units stay, so the amounts are ten times as many with one decimal instead of two.
    expect(state.get(tokens, symbol)).toMatchObject({
      issuer: 'carol00',
      decimal: 1,
      total_supply: 700n,
      current_supply: 30n,
      holder_count: 2,
    })
    expect(['alice00', 'bob0000', 'carol00'].map(owner => state.get(balances, `husd/${owner}`)?.amount)).toEqual([
      500n,
      0n,
      130n,
    ])
    expect(state.get(statistics, STATISTICS)?.token_count).toBe(state.all(tokens).length)
    const sums = [seriesOf.supply(symbol), seriesOf.holders(symbol)].map(key => {
      const { gained = '', lost = '' } = state.get(series, key) ?? {}
      return parsePackedNumber(gained) - parsePackedNumber(lost)
    })
    expect(sums).toEqual([30n, 2n])
  })
})

describe('delayed transactions', () => {
  test('deriveBlock: delayed transactions take effect when carried out, not when sent', () => {
    const code = JSON.stringify({
      ID: '',
      info: { lang: 'javascript', version: '1.0.0', abi: [] },
      code: 'x',
    })
    const sent = transaction({
      delay: 5n * SECOND,
      actions: [action('system.iost/setCode', [code]), vote('vote', ['alice00', 'bob0000', '1'])],
      receipt: { message: 'defer', returns: [] },
    })
    const id = `Contract${sent.hash}`
    const before = derive([sent])
    expect(before.state.get(contracts, id)).toBeUndefined()
    expect(before.state.all(votes)).toEqual([])
    expect(before.documents[1]?.records.length).toBe(2)

    const carried = transaction({
      referredTx: sent.hash,
      actions: sent.actions,
      receipts: [transfer('alice00', 'vote.iost', '1')],
      receipt: { returns: [`["${id}"]`, '[""]'] },
    })
    const after = derive([sent], [carried])
    expect(after.state.get(contracts, id)?.tx_hash).toBe(carried.hash)
    expect(after.state.get(votes, 'bob0000/alice00')?.votes).toBe(100_000_000n)
  })

  test.each(['SUCCESS', 'RUNTIME_ERROR'])(
    'deriveBlock: the sender pays the RAM in which the chain keeps one, and has it back when it was carried out: %s',
    statusCode => {
      const kept = BigInt(32 + 'alice00'.length + 32)
      const sent = transaction({ delay: 5n * SECOND, receipt: { ramUsage: [['alice00', kept]] } })
      const before = derive([sent])
      expect(before.state.get(balances, 'ram/alice00')?.amount).toBe(100_000n - kept)
      expect(before.state.get(resources, 'alice00')?.ram_used).toBe(kept)
      const carried = transaction({
        referredTx: sent.hash,
        receipt: { statusCode, ramUsage: [['alice00', -kept]] },
      })
      const after = derive([sent], [carried])
      expect(after.state.get(balances, 'ram/alice00')?.amount).toBe(100_000n)
      expect(after.state.get(resources, 'alice00')?.ram_used).toBe(0n)
    },
  )

  test('deriveBlock: cancelDelaytx of itself changes no document', () => {
    const cancel = transaction({
      actions: [action('system.iost/cancelDelaytx', ['hash'])],
      receipts: [receipt('system.iost/cancelDelaytx', ['hash'])],
    })
    const { documents } = derive([cancel])
    expect(documents[1]?.records.map(({ from, to }) => [from, to])).toEqual([['alice00', 'system.iost']])
  })
})

describe('genesis', () => {
  test('deriveBlock: producers, the RAM market and system contracts come from actions', () => {
    const first = genesis()
    const { state } = deriveChain(
      chainOf([
        {
          ...first,
          actions: [
            ...first.actions,
            vote('initProducer', ['bob0000', 'key']),
            action('ram.iost/issue', [137_438_953_472, 600, 1_307_448, 0]),
          ],
        },
      ]),
    )
    const producer = state.get(producers, 'bob0000')
    expect([producer?.registered, producer?.status, producer?.online, producer?.is_producer]).toEqual([
      true,
      1,
      true,
      true,
    ])
    const figures = state.get(statistics, STATISTICS)
    expect(figures?.ram).toEqual({ left: '137438953472', used: '0', balance: '687194767.36' })
    expect(figures?.contract_count).toBe(5)
    expect(state.get(contracts, 'system.iost')).toMatchObject({
      publisher: 'deadaddr',
      tx_hash: first.hash,
      system: true,
    })
  })
})
