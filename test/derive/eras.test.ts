import { describe, expect, test } from 'bun:test'
import type { Transaction } from '#chain/block.ts'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { listOf, lists } from '#indices/list.ts'
import { producerKeys, producers } from '#indices/producer.ts'
import { resources } from '#indices/resource.ts'
import { numberText, parsePackedNumber, series, seriesOf } from '#indices/series.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import { action, createToken, receipt, SECOND, START, transaction } from '#test/support/stores/hand-made.ts'
import { derive, sendActions, sendReceipts } from '#test/support/stores/hand-made-derived.ts'

const vote = (name: string, args: readonly unknown[]) => action(`vote_producer.iost/${name}`, args)
const said = (name: string, args: readonly unknown[]) => receipt(`vote_producer.iost/${name}`, args)
const failed = { statusCode: 'RUNTIME_ERROR', returns: [] }
const codeOf = (ID: string, version: string): string =>
  JSON.stringify({ ID, info: { lang: 'javascript', version, abi: [] }, code: '' })
const transfer = (from: string, to: string, amount: string) =>
  receipt('token.iost/transfer', ['iost', from, to, amount, ''])

test('deriveBlock: a failed transaction with receipts, as before block 38,500,000, changes nothing and has rows of its actions', () => {
  const moving = ['iost', 'alice00', 'bob0000', '5', '']
  const joining = ['dave000', 'owner', 'active']
  const { state, documents } = derive([
    transaction({
      actions: [action('token.iost/transfer', moving), action('auth.iost/signUp', joining)],
      receipts: [receipt('token.iost/transfer', moving), receipt('auth.iost/signUp', joining)],
      receipt: failed,
    }),
  ])
  expect(state.get(balances, 'iost/alice00')?.amount).toBe(100_000_000_000n)
  expect(state.get(balances, 'iost/bob0000')).toBeUndefined()
  expect(state.get(accounts, 'dave000')).toBeUndefined()
  expect(state.get(lists, listOf.created('alice00'))).toBeUndefined()
  expect(state.get(lists, listOf.failed('alice00'))?.count).toBe(2)
  const rows = documents[1]?.records.map(({ to, amount, receipt: at, creator }) => [to, amount, at, creator])
  expect(rows).toEqual(['bob0000', 'dave000'].map(to => [to, undefined, undefined, undefined]))
})

describe('token.iost of earlier years', () => {
  test('deriveBlock: amounts are parsed as contract version 1.0.0 parsed them', () => {
    const raw = action('token.iost/transfer', ['iost', 'alice00', 'bob0000', '1.20294517598E7', ''])
    const { state, documents } = derive([
      transaction({ actions: [raw], receipts: [transfer('alice00', 'bob0000', '1.20294517598E7')] }),
      sendReceipts(transfer('alice00', 'bob0000', '0001.500')),
    ])
    expect(state.get(balances, 'iost/bob0000')?.amount).toBe(120_294_517n + 150_000_000n)
    expect(documents[1]?.records.map(({ index, amount }) => [index, amount])).toEqual([
      [0, '1.20294517'],
      [0, '1.5'],
    ])
  })

  test('deriveBlock: updateTotalSupply is read from the action, recycle clears the issuer, symbols may contain a point', () => {
    const { state } = derive(
      [sendReceipts(createToken('bobns.tok', 2), receipt('token.iost/transferNamespace', ['bobns', 'a', 'b']))],
      [
        sendActions(action('token.iost/updateTotalSupply', ['bobns.tok', 7])),
        transaction({ actions: [action('token.iost/updateTotalSupply', ['bobns.tok', 9])], receipt: failed }),
        sendReceipts(receipt('token.iost/recycle', ['bobns.tok'])),
      ],
    )
    expect(state.get(tokens, 'bobns.tok')).toMatchObject({ issuer: '', total_supply: 700n })
  })
})

describe('a symbol that is created again', () => {
  const symbol = 'husd'
  const issued = (owner: string, amount: string) => receipt('token.iost/issue', [symbol, owner, amount])
  const first = sendReceipts(createToken(symbol, 2), issued('alice00', '5'), issued('bob0000', '1'))
  const recycle = receipt('token.iost/recycle', [symbol])
  const again = receipt('token.iost/create', [symbol, 'carol00', 70, 'eyJkZWNpbWFsIjoxfQ=='])

  test.each([
    ['in a later block', [[first], [sendReceipts(recycle)], [sendReceipts(again)]]],
    ['in the block of its recycling', [[first], [sendReceipts(recycle, again)]]],
    ['in its first block', [[first, sendReceipts(recycle), sendReceipts(again)]]],
  ])('deriveBlock: it is one token, whose owners keep what they had: %s', (_, lists) => {
    const after = sendReceipts(
      issued('carol00', '3'),
      receipt('token.iost/transfer', [symbol, 'bob0000', 'carol00', '10', '']),
    )
    const { state } = derive(...lists, [after])
    // Numbers of units stay, so the amounts are ten times as many with one decimal instead of two.
    const figures = { decimal: 1, total_supply: 700n, current_supply: 30n, holder_count: 2 }
    expect(state.get(tokens, symbol)).toMatchObject({ issuer: 'carol00', ...figures })
    const held = ['alice00', 'bob0000', 'carol00'].map(owner => state.get(balances, `husd/${owner}`)?.amount)
    expect(held).toEqual([500n, 0n, 130n])
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
    const sent = transaction({
      delay: 5n * SECOND,
      actions: [action('system.iost/setCode', [codeOf('', '1.0.0')]), vote('vote', ['alice00', 'bob0000', '1'])],
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

  test('deriveBlock: the sender pays the RAM in which the chain keeps one, and has it back when it was carried out', () => {
    const kept = BigInt(32 + 'alice00'.length + 32)
    const sent = transaction({ delay: 5n * SECOND, receipt: { ramUsage: [['alice00', kept]] } })
    const ramAfter = (...blocks: readonly (readonly Transaction[])[]) => {
      const { state } = derive(...blocks)
      return [state.get(balances, 'ram/alice00')?.amount, state.get(resources, 'alice00')?.ram_used]
    }
    expect(ramAfter([sent])).toEqual([100_000n - kept, kept])
    for (const statusCode of ['SUCCESS', 'RUNTIME_ERROR']) {
      const carried = transaction({ referredTx: sent.hash, receipt: { statusCode, ramUsage: [['alice00', -kept]] } })
      expect(ramAfter([sent], [carried])).toEqual([100_000n, 0n])
    }
  })
})

describe('vote_producer.iost before it wrote receipts', () => {
  const register = transaction({
    publisher: 'bob0000',
    actions: [
      vote('applyRegister', ['bob0000', 'key', 'Earth', 'https://bob.example', 'net', true]),
      vote('approveRegister', ['bob0000']),
      vote('logInProducer', ['bob0000']),
    ],
  })

  test('deriveBlock: registers, votes and keys are read from actions', () => {
    const voting = transaction({
      actions: [
        vote('vote', ['alice00', 'bob0000', '10.50']),
        vote('unvote', ['alice00', 'bob0000', '0.5']),
        vote('voteFor', ['alice00', 'carol00', 'bob0000', '3']),
      ],
      receipts: [
        transfer('alice00', 'vote.iost', '10.5'),
        receipt('token.iost/transferFreeze', ['iost', 'vote.iost', 'alice00', '0.5', START + 700_000n * SECOND, '']),
        transfer('alice00', 'vote.iost', '3'),
      ],
    })
    const update = transaction({
      publisher: 'bob0000',
      actions: [vote('updateProducer', ['bob0000', 'key2', 'Mars', '', '']), vote('logOutProducer', ['bob0000'])],
    })
    const { state } = derive([register], [voting], [update])
    expect(state.all(votes).map(({ id, votes: amount }) => [id, amount])).toEqual([
      ['bob0000/alice00', 1_000_000_000n],
      ['bob0000/carol00', 300_000_000n],
    ])
    expect(state.get(producers, 'bob0000')).toMatchObject({
      ...{ registered: true, pubkey: 'key2', loc: 'Mars', url: '', net_id: '', is_producer: true, online: false },
      ...{ status: 1, votes: 1_300_000_000n, opening_votes: [[17_956, '0']], voter_count: 2 },
      // Blocks 1 and 2 only: at the end of block 3 the producer has another key.
      block_count: 2,
    })
    expect(state.all(producerKeys).map(({ id, account }) => [id, account])).toEqual([
      ['key', ''],
      ['key2', 'bob0000'],
    ])
    const parts = { token: 98_650_000_000n, vote: 1_000_000_000n, frozen: 50_000_000n }
    expect(state.get(wealth, 'alice00')).toMatchObject({ ...parts, total: parts.token + parts.vote + parts.frozen })
  })

  test('deriveBlock: an action with its receipt counts once, and a further action without a receipt counts, too', () => {
    const voting = transaction({
      actions: [vote('vote', ['alice00', 'bob0000', '1.10']), vote('vote', ['alice00', 'bob0000', '2'])],
      receipts: [said('vote', ['alice00', 'bob0000', '1.1'])],
    })
    const { state } = derive([register], [voting])
    expect(state.get(votes, 'bob0000/alice00')?.votes).toBe(310_000_000n)
  })

  test('deriveBlock: votes for producers that voters gave to vote.iost itself count, those of other votes do not', () => {
    const direct = (name: string, args: readonly unknown[]) => action(`vote.iost/${name}`, args)
    const voting = transaction({
      actions: [
        vote('vote', ['alice00', 'bob0000', '10']),
        direct('vote', ['1', 'alice00', 'bob0000', '2.5']),
        direct('voteFor', ['1', 'alice00', 'carol00', 'bob0000', '3']),
        direct('vote', ['2', 'alice00', 'bob0000', '50']),
        direct('unvote', ['1', 'alice00', 'bob0000', '4']),
      ],
      receipts: [
        ...['10', '2.5', '3', '50'].map(amount => transfer('alice00', 'vote.iost', amount)),
        receipt('token.iost/transferFreeze', ['iost', 'vote.iost', 'alice00', '4', START + 700_000n * SECOND, '']),
      ],
    })
    const alone = transaction({
      actions: [direct('vote', ['1', 'alice00', 'bob0000', '1'])],
      receipts: [transfer('alice00', 'vote.iost', '1')],
    })
    const refused = transaction({
      actions: [direct('vote', ['1', 'alice00', 'bob0000', '7']), vote('vote', ['alice00', 'bob0000', '7'])],
      receipt: failed,
    })
    const { state } = derive([register], [voting, alone, refused])
    expect(state.all(votes).map(({ id, votes: amount }) => [id, amount])).toEqual([
      ['bob0000/alice00', 950_000_000n],
      ['bob0000/carol00', 300_000_000n],
    ])
    expect(state.get(producers, 'bob0000')).toMatchObject({ votes: 1_250_000_000n, voter_count: 2 })
    expect(state.get(wealth, 'alice00')).toMatchObject({ vote: 950_000_000n, frozen: 400_000_000n })
  })

  test('deriveBlock: a withdrawal without a receipt is recognised by its transfers', () => {
    const bank = 'vote_producer.iost'
    const { state } = derive(
      [register, sendReceipts(transfer('alice00', bank, '20'))],
      [
        transaction({
          publisher: 'bob0000',
          actions: [vote('candidateWithdraw', ['bob0000'])],
          receipts: [transfer(bank, 'bob0000', '2.49999999'), transfer(bank, bank, '2.5')],
        }),
        transaction({
          actions: [
            vote('topupVoterBonus', ['bob0000', '3', 'alice00']),
            vote('topupVoterBonus', ['bob0000', '9', 'alice00']),
          ],
          receipts: [transfer('alice00', bank, '3')],
          receipt: { returns: ['["true"]', '["false"]'] },
        }),
      ],
    )
    const awarded = { received_award: 249_999_999n, payouts: [[17_956, '550000000']] }
    expect(state.get(producers, 'bob0000') as unknown).toMatchObject(awarded)
  })

  test('deriveBlock: without votes nobody is given the half of the voters', () => {
    const bank = 'vote_producer.iost'
    const took = (...receipts: readonly ReturnType<typeof receipt>[]) =>
      transaction({ actions: [vote('candidateWithdraw', ['bob0000'])], receipts })
    const paid = transfer(bank, 'bob0000', '2.5')
    const payoutsAfter = (...withdrawals: readonly Transaction[]) => {
      const { state } = derive([register, sendReceipts(transfer('alice00', bank, '20'))], withdrawals)
      const { received_award, payouts } = state.get(producers, 'bob0000') ?? {}
      expect(received_award).toBe(250_000_000n * BigInt(withdrawals.length))
      return payouts
    }
    const told = took(paid, said('candidateWithdraw', ['bob0000', '2.5', '2.5']))
    expect(payoutsAfter(told, took(paid))).toEqual([[17_956, '0']])
    const voted = sendReceipts(said('vote', ['alice00', 'bob0000', '1']))
    const { state } = derive([register, voted, sendReceipts(transfer('alice00', bank, '20'))], [told])
    expect(state.get(producers, 'bob0000')?.payouts).toEqual([[17_956, '250000000']])
  })

  test('deriveBlock: votes and bonuses below 10^-6 have an exponent, and amounts are rounded as by the contract', () => {
    const told = sendReceipts(
      said('vote', ['alice00', 'bob0000', '5e-7']),
      said('unvote', ['alice00', 'bob0000', '1e-8']),
      said('topupVoterBonus', ['bob0000', '3e-7', 'alice00']),
    )
    const silent = sendActions(vote('vote', ['carol00', 'bob0000', '1.000000005']))
    const { state } = derive([register, told, silent])
    expect(state.get(votes, 'bob0000/alice00')?.votes).toBe(49n)
    expect(state.get(votes, 'bob0000/carol00')?.votes).toBe(100_000_001n)
    expect(state.get(producers, 'bob0000')?.payouts).toEqual([[17_956, '30']])
  })

  test('deriveBlock: withdrawals of 1.0.4 and 1.0.5 may have an exponent', () => {
    const { state } = derive([
      register,
      sendReceipts(receipt('vote_producer.iost/voterWithdraw', '{"bob0000":"4.56e-8","carol00":"1.2345678912"}')),
    ])
    expect(state.get(series, seriesOf.rewards('bob0000'))?.gained).toBe(numberText(5n))
    expect(state.get(series, seriesOf.rewards('carol00'))?.gained).toBe(numberText(123_456_789n))
  })

  test('deriveBlock: applyUnregister removes a producer that was never approved in 1.0.0 only', () => {
    const apply = sendActions(vote('applyRegister', ['bob0000', 'key', '', '', '', true]))
    const leave = sendActions(vote('applyUnregister', ['bob0000']))
    const versioned = (version: string) =>
      sendActions(action('system.iost/updateCode', [codeOf('vote_producer.iost', version), '']))
    const registered = (version: string) =>
      derive([versioned(version)], [apply], [leave]).state.get(producers, 'bob0000')?.registered
    expect([registered('1.0.0'), registered('1.0.5'), registered('1.0.9')]).toEqual([false, true, true])
  })

  test('deriveBlock: the block in which a producer left is kept until it registers again', () => {
    const leave = transaction({ publisher: 'bob0000', actions: [vote('unregister', ['bob0000'])] })
    const voting = sendActions(vote('unvote', ['alice00', 'bob0000', '0.5']))
    const before = sendActions(vote('vote', ['alice00', 'bob0000', '2']))
    const steps = [[register], [before], [leave], [voting], [register], [leave]]
    const since = (count: number) => derive(...steps.slice(0, count)).state.get(producers, 'bob0000')?.unregistered
    expect(steps.map((_, at) => since(at + 1))).toEqual([undefined, undefined, 3, 3, undefined, 6])
  })
})
