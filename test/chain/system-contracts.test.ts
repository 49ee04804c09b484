import { expect, test } from 'bun:test'
import type { Block } from '#chain/block.ts'
import { listUnknownContracts } from '#chain/effects.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { action, chainOf, genesis as made, receipt, transaction } from '#test/support/stores/hand-made.ts'

async function genesis(): Promise<Block> {
  const [first] = await recordedBlocks()
  if (first === undefined) throw new Error('The recording is empty.')
  return first.block
}

test('contracts to ask for: names the contracts of genesis in order, and none in later blocks of the recorded chain', async () => {
  const found = (await recordedBlocks()).map(({ block }) => listUnknownContracts(block))
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

test('contracts to ask for: names each contract of a successful updateNativeCode once, and nothing else', async () => {
  const block = await genesis()
  const [transaction] = block.transactions
  if (transaction === undefined) throw new Error('Genesis has no transaction.')
  const action = (actionName: string, data: string, contract = 'system.iost') => ({ contract, actionName, data })
  const actions = [
    action('updateNativeCode', '["token.iost","1.0.7",""]'),
    action('updateNativeCode', '[ "token.iost" ]'),
    action('updateNativeCode', '["token.iost","1.0.7","",] '),
    action('updateNativeCode', '["auth.iost","1.0.1",""] x'),
    // Without a version, the code is in the chain.
    action('updateNativeCode', '["","","{}"]'),
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
    transactions: [{ ...transaction, actions, receipt: { ...transaction.receipt, statusCode: 'RUNTIME_ERROR' } }],
  }
  expect(listUnknownContracts(later)).toEqual(['token.iost', 'auth.iost'])
  expect(listUnknownContracts(failed)).toEqual([])
})

test('contracts to ask for: finds a contract deployed by a contract in a return, in RAM usage or in its own receipt', () => {
  const make = (told: (id: string) => Parameters<typeof transaction>[0], contract = 'ContractFactory') => {
    const { hash } = transaction({ actions: [action(`${contract}/make`, [])] })
    const id = `Contract${hash}`
    return [id, transaction({ actions: [action(`${contract}/make`, [])], ...told(id), hash })] as const
  }
  const byReturn = make(id => ({ receipt: { returns: [`["[\\"${id}\\"]"]`] } }))
  const byRam = make(id => ({ receipt: { ramUsage: [[id, 114n]] } }))
  const byReceipt = make(id => ({ receipts: [receipt(`${id}/born`, 'yes')] }))
  const failed = make(id => ({ receipt: { returns: [id], statusCode: 'RUNTIME_ERROR' } }))
  const unnamed = make(() => ({}))
  const ofChain = make(id => ({ receipt: { returns: [id] } }), 'auth.iost')
  const set = make(id => ({ actions: [action('system.iost/setCode', [])], receipt: { returns: [id] } }))
  const all = [byReturn, byRam, byReceipt, failed, unnamed, ofChain, set]
  const [, loaded] = chainOf(
    [made()],
    all.map(([, tx]) => tx),
  )
  expect(listUnknownContracts(loaded?.block as Block)).toEqual([byReturn[0], byRam[0], byReceipt[0]])
})
