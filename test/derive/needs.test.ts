import { describe, expect, test } from 'bun:test'
import type { LoadedBlock } from '#chain/block.ts'
import { isContractId } from '#chain/names.ts'
import { needsOf } from '#derive/needs.ts'
import { balanceId } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { producerKeys, producers } from '#indices/producer.ts'
import type { Key } from '#indices/registry.ts'
import { seriesOf } from '#indices/series.ts'
import { transactionRuns } from '#indices/transaction-run.ts'
import { createNode } from '#node/create-node.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { deriveChain, type Missed } from '#test/support/stores/derived-chain.ts'
import { action, chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'

/** A key that was not predicted. */
type Miss = Omit<Missed, 'keys'> & { readonly key: Key }

const isNamed = ({ index, id }: Key, name: string, named: string): boolean => index.name === name && id === named

const ownerPaysRam = ({ loaded, key, stored }: Miss): boolean =>
  loaded.block.transactions
    .flatMap(({ receipt: { ramUsage } }) => ramUsage)
    .filter(([payer]) => isContractId(payer) && !payer.endsWith('.iost'))
    .map(([payer]) => stored.get(contracts, payer)?.owner ?? '')
    .some(
      owner =>
        isNamed(key, 'balances', balanceId('ram', owner)) ||
        isNamed(key, 'series', seriesOf.balance(balanceId('ram', owner))) ||
        isNamed(key, 'series', seriesOf.holders('ram')) ||
        isNamed(key, 'resources', owner) ||
        isNamed(key, 'tokens', 'ram'),
    )

/** Keys that only the state or the deployed code can tell. Any other missed key is a bug in `needsOf`. */
const REASONS: Readonly<Record<string, (miss: Miss) => boolean>> = {
  'a contract that uses RAM: its owner pays': ownerPaysRam,
  'the producer who has the key of the witness': ({ loaded, key, stored }) =>
    isNamed(key, 'producers', stored.get(producerKeys, loaded.block.witness)?.account ?? ''),
  'the key that a producer had before': ({ key, stored }) =>
    stored.all(producers).some(({ pubkey }) => isNamed(key, 'producer-keys', pubkey)),
  'the contract that updated code names inside': ({ loaded, key }) =>
    key.index === contracts &&
    loaded.block.transactions.some(({ actions }) =>
      actions.some(({ actionName, data }) => actionName === 'updateCode' && data.includes(key.id)),
    ),
  'how many transactions there were before': ({ loaded, key }) =>
    key.index === transactionRuns && loaded.block.transactions.length > 0,
  'the producers that a voter who withdraws has votes for, and nothing from': ({ loaded, key }) =>
    key.index.name === 'series' &&
    key.id.startsWith('@c/') &&
    loaded.block.transactions.some(({ receipt: { receipts } }) =>
      receipts.some(({ funcName }) => funcName === 'vote_producer.iost/voterWithdraw'),
    ),
  'where members stand in a large ranking': ({ key }) => key.index.name === 'segments',
}

/**
 * The number of missed keys by reason, and the keys without a reason. Each block is a batch of its own, so
 * that no block profits from the needs of another one.
 */
const missedIn = (blocks: readonly LoadedBlock[]) => {
  const counts = new Map<string, number>()
  const forgotten: string[] = []
  deriveChain(blocks, {
    sizeOf: () => 1,
    onMissed: ({ keys, ...missed }) => {
      for (const key of keys) {
        const [reason] = Object.entries(REASONS).find(([, explains]) => explains({ ...missed, key })) ?? []
        if (reason === undefined) forgotten.push(`block ${missed.loaded.block.height}: ${key.index.name} ${key.id}`)
        else counts.set(reason, (counts.get(reason) ?? 0) + 1)
      }
    },
  })
  return { forgotten, reasons: Object.fromEntries(counts) }
}

test('needsOf: the keys of a run are those of its blocks, each once', async () => {
  const blocks = await recordedBlocks()
  const named = ({ index, id }: Key): string => `${index.name} ${id}`
  const ofRun = needsOf(blocks).map(named)
  const ofBlocks = new Set(blocks.flatMap(block => needsOf([block]).map(named)))
  expect(ofRun.length).toBe(ofBlocks.size)
  expect(new Set(ofRun)).toEqual(ofBlocks)
})

describe('needsOf: names all state of a block except what the block cannot tell', () => {
  test('it does so on the recorded chain', async () => {
    expect(missedIn(await recordedBlocks())).toEqual({
      forgotten: [],
      reasons: {
        'the producer who has the key of the witness': 1,
        'a contract that uses RAM: its owner pays': 1_695,
        'how many transactions there were before': 3_350,
        'the key that a producer had before': 2,
        'the contract that updated code names inside': 2,
        'the producers that a voter who withdraws has votes for, and nothing from': 204,
      },
    })
  })

  test('it does so on a generated chain with large rankings and rewards for producers', async () => {
    const settings = { ...small('busy'), blocks: 260 }
    const served = serveGenerated(settings)
    const node = createNode({ urls: [served.url] })
    const blocks: LoadedBlock[] = []
    for await (const loaded of node.blocks({ from: 0, to: settings.blocks })) blocks.push(loaded)
    node.close()
    await served.stop()
    const { forgotten, reasons } = missedIn(blocks)
    expect(forgotten).toEqual([])
    expect(Object.keys(reasons).sort()).toEqual([
      'how many transactions there were before',
      'the producer who has the key of the witness',
      'where members stand in a large ranking',
    ])
  })

  test('it does so for a vote that a contract paid for another account', () => {
    const args = ['alice00', 'carol00', 'bob0000', '3']
    const voted = transaction({
      actions: [action('vote_producer.iost/voteFor', args)],
      receipts: [receipt('vote_producer.iost/voteFor', args)],
    })
    expect(missedIn(chainOf([genesis()], [voted]))).toEqual({
      forgotten: [],
      reasons: { 'how many transactions there were before': 1 },
    })
  })
})
