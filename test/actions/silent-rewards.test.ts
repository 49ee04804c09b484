import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { action, chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

const said = (name: string, args: unknown) => receipt(`vote_producer.iost/${name}`, args as readonly unknown[] | string)
const transfer = (from: string, to: string, amount: string) =>
  receipt('token.iost/transfer', ['iost', from, to, amount, ''])
const BANK = 'vote_producer.iost'
const told = (...receipts: readonly ReturnType<typeof receipt>[]) => [transaction({ receipts })]

/** The first votes have an action but no receipt. Later the contract writes receipts. */
const chain = chainOf(
  [genesis()],
  [transaction({ actions: [action(`${BANK}/vote`, ['alice00', 'bob0000', '2200000'])] })],
  // Withdrawals had receipts before other actions did.
  told(transfer('alice00', BANK, '900'), said('voterWithdraw', '{"bob0000":"1"}'), transfer(BANK, 'alice00', '1')),
  told(
    said('vote', ['carol00', 'bob0000', '1100000']),
    said('topupVoterBonus', ['bob0000', '33', 'alice00']),
    said('topupCandidateBonus', ['3.00000001', 'alice00']),
  ),
  told(said('voterWithdraw', '{"bob0000":"22"}'), transfer(BANK, 'alice00', '22')),
  told(transfer(BANK, 'bob0000', '1'), said('candidateWithdraw', ['bob0000', '1', '33'])),
  told(said('topupCandidateBonus', ['3.00000001', 'alice00'])),
)
const opened = await temporarySqlite()
beforeAll(() => commitRuns(opened.store, [chain], { lib: chain.length - 1 }))
afterAll(() => opened.destroy())

/**
 * Rewards as a voter, by producer, as a producer and for its voters; whether the total is known, and the reason if not.
 */
async function rewards(account: string, height: number) {
  const { iost, unclaimed } = await ask(
    'get-account-assets',
    { account, at_block: String(height) },
    { deps: { store: opened.store } },
  )
  const { by_producer, producer_reward_for_voters, reason } = unclaimed
  return [
    iost.voter_rewards,
    by_producer,
    iost.producer_reward,
    producer_reward_for_voters,
    iost.total !== null,
    reason,
  ]
}
const from = (amount: string | null) => [{ producer: 'bob0000', amount }]
const UNTOLD = 'no_receipts'

test('get-account-assets: rewards for votes without receipts are null until the next withdrawal with a receipt', async () => {
  expect(await rewards('alice00', 0)).toEqual(['0', [], '0', '0', true, undefined])
  for (const height of [1, 2, 3])
    expect(await rewards('alice00', height)).toEqual([null, from(null), '0', '0', false, UNTOLD])
  expect(await rewards('alice00', 4)).toEqual(['0', [], '0', '0', true, undefined])
  expect(await rewards('alice00', 5)).toEqual(['22', from('22'), '0', '0', true, undefined])
})

test('get-account-assets: rewards of a voter whose vote has a receipt are known at once', async () => {
  expect(await rewards('carol00', 2)).toEqual(['0', [], '0', '0', true, undefined])
  expect(await rewards('carol00', 3)).toEqual(['11', from('11'), '0', '0', true, undefined])
  expect(await rewards('carol00', 5)).toEqual(['22', from('22'), '0', '0', true, undefined])
})

test('get-account-assets: the bonus of a producer with votes without receipts is known after its next withdrawal', async () => {
  for (const height of [1, 3, 4]) expect(await rewards('bob0000', height)).toEqual(['0', [], null, null, false, UNTOLD])
  expect(await rewards('bob0000', 5)).toEqual(['0', [], '0', '0', true, undefined])
  // Shares of 3.00000001 by 3,300,000 votes are cut to 50 decimals, which loses a digit. The producer's half is cut.
  expect(await rewards('bob0000', 6)).toEqual(['0', [], '1.5', '1.5', true, undefined])
})
