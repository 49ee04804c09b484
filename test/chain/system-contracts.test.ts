import { expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import type { Block } from '#chain/block.ts'
import { systemContractsIn } from '#chain/effects.ts'

const genesis = async (): Promise<Block> => {
  const [first] = await recordedBlocks()
  if (first === undefined) throw new Error('The recording is empty.')
  return first.block
}

test('systemContractsIn: those of genesis in its order, none after it on the recorded chain', async () => {
  const found = (await recordedBlocks()).map(({ block }) => systemContractsIn(block))
  expect(found[0]).toEqual([
    'token.iost',
    'token721.iost',
    'gas.iost',
    'issue.iost',
    'auth.iost',
    'domain.iost',
    'bonus.iost',
    'vote.iost',
    'vote_producer.iost',
    'base.iost',
    'exchange.iost',
    'ram.iost',
  ])
  expect(found.slice(1).flat()).toEqual([])
})

test('systemContractsIn: updateNativeCode counts when it succeeded, each contract once, nothing else', async () => {
  const block = await genesis()
  const [transaction] = block.transactions
  if (transaction === undefined) throw new Error('Genesis has no transaction.')
  const action = (actionName: string, data: string, contract = 'system.iost') => ({
    contract,
    actionName,
    data,
  })
  const actions = [
    action('updateNativeCode', '["token.iost","1.0.7",""]'),
    action('updateNativeCode', '[ "token.iost" ]'),
    action('updateNativeCode', '["domain.iost"]', 'user.iost'),
    action('initSetCode', '["gas.iost","x"]'),
    action('updateCode', '["auth.iost"]'),
    action('updateNativeCode', 'not JSON'),
    action('updateNativeCode', '[5]'),
    action('updateNativeCode', '{"0":"ram.iost"}'),
  ]
  const later = { ...block, height: 7, transactions: [{ ...transaction, actions }] }
  const failed = {
    ...later,
    transactions: [
      { ...transaction, actions, receipt: { ...transaction.receipt, statusCode: 'RUNTIME_ERROR' } },
    ],
  }
  expect(systemContractsIn(later)).toEqual(['token.iost'])
  expect(systemContractsIn(failed)).toEqual([])
})
