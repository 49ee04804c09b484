import { expect, test } from 'bun:test'
import type { Action, Receipt, Transaction } from './block.ts'
import { findStakes } from './stake.ts'

const moved = (from: string, to: string, amount: string): Receipt => ({
  funcName: 'token.iost/transfer',
  content: JSON.stringify(['iost', from, to, amount, '']),
})
const returned = (from: string, to: string, amount: string): Receipt => ({
  funcName: 'token.iost/transferFreeze',
  content: `["iost","${from}","${to}","${amount}",1795849203597000000,""]`,
})
const told = (funcName: string, ...args: readonly string[]): Receipt => ({ funcName, content: JSON.stringify(args) })
function call(name: string, ...args: readonly string[]): Action {
  const [contract = '', actionName = ''] = name.split('/')
  return { contract, actionName, data: JSON.stringify(args) }
}

function stakesOf(receipts: readonly Receipt[], actions: readonly Action[] = []): readonly number[] {
  const isStake = findStakes({ actions, receipt: { receipts } } as unknown as Transaction)
  return receipts.flatMap((_, receipt) => (isStake({ index: 0, receipt }) ? [receipt] : []))
}

const votes = (...args: readonly string[]) => told('vote_producer.iost/vote', ...args)
const paid = moved('alice', 'vote.iost', '5')

test.each<readonly [string, readonly Receipt[], readonly number[]]>([
  ['vote', [paid, votes('alice', 'prod', '5')], [0]],
  ['unvote', [returned('vote.iost', 'alice', '5'), told('vote_producer.iost/unvote', 'alice', 'prod', '5')], [0]],
  ['pledge', [moved('alice', 'gas.iost', '5'), told('gas.iost/pledge', 'alice', 'bobby', '5.0')], [0]],
  ['unpledge', [returned('gas.iost', 'alice', '5'), told('gas.iost/unpledge', 'alice', 'bobby', '5')], [0]],
  ['own vote', [paid, told('vote_producer.iost/voteFor', 'alice', 'alice', 'prod', '5')], [0]],
  ['vote for another', [paid, told('vote_producer.iost/voteFor', 'alice', 'b', 'prod', '5')], []],
  ['transfer', [moved('alice', 'vote.iost', '1.5')], []],
  ['poll', [moved('alice', 'vote.iost', '1000'), returned('vote.iost', 'alice', '5')], []],
  ['another account', [paid, votes('bobby', 'prod', '5')], []],
  ['another contract', [paid, told('ContractX/vote', 'alice', 'prod', '5')], []],
  ['transfers beside a vote', [paid, paid, votes('alice', 'prod', '5'), paid], [1]],
])('stakes: a movement is one if the receipt directly after it says so: %s', (_, receipts, expected) => {
  expect(stakesOf(receipts)).toEqual(expected)
})

test.each<readonly [string, Action, readonly number[]]>([
  ['vote', call('vote_producer.iost/vote', 'alice', 'prod', '5.0'), [0]],
  ['to vote.iost itself', call('vote.iost/vote', '1', 'alice', 'prod', '5'), [0]],
  ['for another account', call('vote_producer.iost/voteFor', 'alice', 'bobby', 'prod', '5'), []],
  ['in a poll', call('vote.iost/vote', '2', 'alice', 'yes', '5'), []],
  ['of another amount', call('vote_producer.iost/vote', 'alice', 'prod', '6'), []],
  ['deposit', call('vote.iost/newVote', 'alice', 'A poll', '{}'), []],
])('stakes: votes without receipts: %s', (_, action, expected) => {
  expect(stakesOf([paid], [action])).toEqual(expected)
})

test('stakes: a vote and an equal transfer in one transaction are one stake, in either order', () => {
  const pay = call('token.iost/transfer', 'iost', 'alice', 'vote.iost', '5.0', '')
  const vote = call('vote_producer.iost/vote', 'alice', 'prod', '5')
  const receipt = moved('alice', 'vote.iost', '5')
  const evidence = told('vote_producer.iost/vote', 'alice', 'prod', '5')
  const isStake = (actions: readonly Action[], receipts: readonly Receipt[]) =>
    findStakes({ actions, receipt: { receipts } } as unknown as Transaction)
  const payFirst = isStake([pay, vote], [receipt, receipt, evidence])
  expect([{ index: 0 }, { index: 1 }, { index: 2, receipt: 1 }].map(payFirst)).toEqual([false, false, true])
  // An action takes the first equal receipt, so the row of the transfer stands for the vote's movement.
  const voteFirst = isStake([vote, pay], [receipt, evidence, receipt])
  expect([{ index: 0 }, { index: 1 }, { index: 2, receipt: 2 }].map(voteFirst)).toEqual([false, true, false])
})
