import { describe, expect, test } from 'bun:test'
import type { Receipt, Transaction } from '#chain/block.ts'
import { producerKeys, producers } from '#indices/producer.ts'
import { series, seriesOf } from '#indices/series.ts'
import { numberText } from '#indices/series-entry.ts'
import { votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import { deriveChain } from '#test/support/stores/derived-chain.ts'
import { action, chainOf, genesis, receipt, SECOND, START, transaction } from '#test/support/stores/hand-made.ts'

const vote = (name: string, args: readonly unknown[]) => action(`vote_producer.iost/${name}`, args)
const said = (name: string, args: readonly unknown[]) => receipt(`vote_producer.iost/${name}`, args)
const derive = (...lists: readonly (readonly Transaction[])[]) => deriveChain(chainOf([genesis()], ...lists))
const transfer = (from: string, to: string, amount: string) =>
  receipt('token.iost/transfer', ['iost', from, to, amount, ''])

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
    expect(state.get(producers, 'bob0000')).toEqual({
      id: 'bob0000',
      account: 'bob0000',
      registered: true,
      listed: 'bob0000',
      pubkey: 'key2',
      loc: 'Mars',
      url: '',
      net_id: '',
      is_producer: true,
      status: 1,
      online: false,
      votes: 1_300_000_000n,
      opening_votes: [[17_956, '0']],
      voter_count: 2,
      // Blocks 1 and 2 only: at the end of block 3 the producer has another key.
      block_count: 2,
      received_award: 0n,
      payouts: [],
    })
    expect(state.all(producerKeys).map(({ id, account }) => [id, account])).toEqual([
      ['key', ''],
      ['key2', 'bob0000'],
    ])
    expect(state.get(wealth, 'alice00')).toEqual({
      id: 'alice00',
      owner: 'alice00',
      total: 98_650_000_000n + 1_000_000_000n + 50_000_000n,
      token: 98_650_000_000n,
      vote: 1_000_000_000n,
      frozen: 50_000_000n,
    })
  })

  test('deriveBlock: an action with its receipt counts once, and a further action without a receipt counts, too', () => {
    const { state } = derive(
      [register],
      [
        transaction({
          actions: [vote('vote', ['alice00', 'bob0000', '1.10']), vote('vote', ['alice00', 'bob0000', '2'])],
          receipts: [said('vote', ['alice00', 'bob0000', '1.1'])],
        }),
      ],
    )
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
    const failed = transaction({
      actions: [direct('vote', ['1', 'alice00', 'bob0000', '7'])],
      receipt: { statusCode: 'RUNTIME_ERROR', returns: [] },
    })
    const { state } = derive([register], [voting, alone, failed])
    expect(state.all(votes).map(({ id, votes: amount }) => [id, amount])).toEqual([
      ['bob0000/alice00', 950_000_000n],
      ['bob0000/carol00', 300_000_000n],
    ])
    expect(state.get(producers, 'bob0000')).toMatchObject({ votes: 1_250_000_000n, voter_count: 2 })
    expect(state.get(wealth, 'alice00')).toMatchObject({ vote: 950_000_000n, frozen: 400_000_000n })
  })

  test('deriveBlock: failed votes do not count', () => {
    const { state } = derive(
      [register],
      [
        transaction({
          actions: [vote('vote', ['alice00', 'bob0000', '1'])],
          receipt: { statusCode: 'RUNTIME_ERROR', returns: [] },
        }),
      ],
    )
    expect(state.all(votes)).toEqual([])
  })

  test('deriveBlock: a withdrawal without a receipt is recognised by its transfers', () => {
    const bank = 'vote_producer.iost'
    const { state } = derive(
      [register, transaction({ receipts: [transfer('alice00', bank, '20')] })],
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
    const { received_award, payouts } = state.get(producers, 'bob0000') ?? {}
    expect({ received_award, payouts }).toEqual({
      received_award: 249_999_999n,
      payouts: [[17_956, '550000000']],
    })
  })

  test('deriveBlock: without votes nobody is given the half of the voters', () => {
    const bank = 'vote_producer.iost'
    const took = (...receipts: readonly Receipt[]) =>
      transaction({ actions: [vote('candidateWithdraw', ['bob0000'])], receipts })
    const paid = transfer(bank, 'bob0000', '2.5')
    const payoutsAfter = (...withdrawals: readonly Transaction[]) => {
      const { state } = derive([register, transaction({ receipts: [transfer('alice00', bank, '20')] })], withdrawals)
      const { received_award, payouts } = state.get(producers, 'bob0000') ?? {}
      expect(received_award).toBe(250_000_000n * BigInt(withdrawals.length))
      return payouts
    }
    const told = took(paid, said('candidateWithdraw', ['bob0000', '2.5', '2.5']))
    expect(payoutsAfter(told, took(paid))).toEqual([[17_956, '0']])
    const voted = transaction({ receipts: [said('vote', ['alice00', 'bob0000', '1'])] })
    const { state } = derive([register, voted, transaction({ receipts: [transfer('alice00', bank, '20')] })], [told])
    expect(state.get(producers, 'bob0000')?.payouts).toEqual([[17_956, '250000000']])
  })

  test('deriveBlock: votes and bonuses below 10^-6 have an exponent, and amounts are rounded as by the contract', () => {
    const told = transaction({
      receipts: [
        said('vote', ['alice00', 'bob0000', '5e-7']),
        said('unvote', ['alice00', 'bob0000', '1e-8']),
        said('topupVoterBonus', ['bob0000', '3e-7', 'alice00']),
      ],
    })
    const silent = transaction({ actions: [vote('vote', ['carol00', 'bob0000', '1.000000005'])] })
    const { state } = derive([register, told, silent])
    expect(state.get(votes, 'bob0000/alice00')?.votes).toBe(49n)
    expect(state.get(votes, 'bob0000/carol00')?.votes).toBe(100_000_001n)
    expect(state.get(producers, 'bob0000')?.payouts).toEqual([[17_956, '30']])
  })

  test('deriveBlock: withdrawals of 1.0.4 and 1.0.5 may have an exponent', () => {
    const { state } = derive([
      register,
      transaction({
        receipts: [receipt('vote_producer.iost/voterWithdraw', '{"bob0000":"4.56e-8","carol00":"1.2345678912"}')],
      }),
    ])
    expect(state.get(series, seriesOf.rewards('bob0000'))?.gained).toBe(numberText(5n))
    expect(state.get(series, seriesOf.rewards('carol00'))?.gained).toBe(numberText(123_456_789n))
  })

  test('deriveBlock: applyUnregister removes a producer that was never approved in 1.0.0 only', () => {
    const apply = transaction({ actions: [vote('applyRegister', ['bob0000', 'key', '', '', '', true])] })
    const leave = transaction({ actions: [vote('applyUnregister', ['bob0000'])] })
    const versioned = (version: string) =>
      transaction({
        actions: [
          action('system.iost/updateCode', [
            JSON.stringify({
              ID: 'vote_producer.iost',
              info: { lang: 'javascript', version, abi: [] },
              code: '',
            }),
            '',
          ]),
        ],
      })
    const registered = (version: string) =>
      derive([versioned(version)], [apply], [leave]).state.get(producers, 'bob0000')?.registered
    expect([registered('1.0.0'), registered('1.0.5'), registered('1.0.9')]).toEqual([false, true, true])
  })

  test('deriveBlock: the block in which a producer left is kept until it registers again', () => {
    const leave = transaction({ publisher: 'bob0000', actions: [vote('unregister', ['bob0000'])] })
    const voting = transaction({ actions: [vote('unvote', ['alice00', 'bob0000', '0.5'])] })
    const before = transaction({ actions: [vote('vote', ['alice00', 'bob0000', '2'])] })
    const steps = [[register], [before], [leave], [voting], [register], [leave]]
    const since = (count: number) => derive(...steps.slice(0, count)).state.get(producers, 'bob0000')?.unregistered
    expect(steps.map((_, at) => since(at + 1))).toEqual([undefined, undefined, 3, 3, undefined, 6])
  })
})
