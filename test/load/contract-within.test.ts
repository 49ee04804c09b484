import { describe, expect, test } from 'bun:test'
import type { LoadedBlock, Transaction } from '#chain/block.ts'
import { balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { blockSource } from '../support/nodes/block-source.ts'
import { failureOf } from '../support/refusal.ts'
import { differences } from '../support/stores/dump.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { action, chainOf, genesis, hashOf, transaction } from '../support/stores/hand-made.ts'
import { loadOnce } from '../support/stores/loading.ts'
import { nodeText } from '../support/stores/node-text.ts'
import { elasticPlace, type Place, sqlitePlace } from '../support/stores/place.ts'

/** A transaction with the text in which the node describes it. */
function told(made: Parameters<typeof transaction>[0]): Transaction {
  const tx = transaction(made)
  return { ...tx, body: nodeText(tx) }
}
const make = (more: Parameters<typeof transaction>[0] = {}): Transaction =>
  told({ actions: [action('ContractFactory/make', ['code'])], ...more })
const contractOf = ({ hash }: Pick<Transaction, 'hash'>): string => `Contract${hash}`
/** A call by Bob that charges RAM to these contracts. */
const charge = (bytes: bigint, ...made: readonly Pick<Transaction, 'hash'>[]): Transaction =>
  told({ publisher: 'bob0000', receipt: { ramUsage: made.map(tx => [contractOf(tx), bytes] as const) } })

const [first, second, third] = [make(), make(), make()]
/** Transactions deploy contracts for the same block, for the next one, and for a later one. */
const BLOCKS = chainOf(
  [genesis()],
  [first, charge(1n, first)],
  [second],
  [charge(10n, first, second), charge(100n, second)],
  [third],
  [],
  [charge(1_000n, third), charge(10_000n, second, third)],
)
const PAID = 1n + 20n + 100n + 1_000n + 20_000n
const UNBOUNDED = Number.MAX_SAFE_INTEGER

const loading = (place: Place, blocks: readonly LoadedBlock[], documents = UNBOUNDED, to?: number) =>
  loadOnce(blockSource(blocks), place.store, {
    batch: { documents, bytes: UNBOUNDED },
    ...(to === undefined ? {} : { to }),
  })

function contractsWithin(open: () => Promise<Place>): void {
  test('RAM of a contract is paid by the publisher if nothing named the contract before its deployment, in batches of any size', async () => {
    const [whole, stopped] = [await open(), await open()]
    try {
      await Promise.all([whole, stopped].map(({ store }) => store.create()))
      await loading(whole, BLOCKS)
      for (const to of [2, 5, 6]) await loading(stopped, BLOCKS, to === 5 ? 1 : UNBOUNDED, to)
      const [ram, contract] = await whole.store.read(view =>
        Promise.all([view.get(balances, 'ram/alice00'), view.get(contracts, contractOf(first))]),
      )
      expect([ram?.amount, contract]).toEqual([100_000n - PAID, undefined])
      expect(differences(await stopped.dump(), await whole.dump())).toEqual([])
    } finally {
      await Promise.all([whole, stopped].map(place => place.destroy()))
    }
  })

  test('RAM charged to a contract that no transaction can have deployed is refused', async () => {
    const [failed, delayed] = [make({ receipt: { statusCode: 'RUNTIME_ERROR' } }), make({ delay: 1n })]
    const begun = chainOf([genesis()], [failed, delayed], [])
    const place = await open()
    try {
      await place.store.create()
      await loading(place, begun)
      for (const named of [{ hash: hashOf('no transaction') }, failed, delayed]) {
        const blocks = [...begun, ...chainOf([genesis()], [], [], [charge(1n, named)]).slice(3)]
        const { message } = await failureOf(loading(place, blocks))
        expect(message).toContain(`Block 3 charges RAM to "${contractOf(named)}", which was never deployed.`)
      }
    } finally {
      await place.destroy()
    }
  })
}

describe('loading into SQLite', () => contractsWithin(sqlitePlace))
describe.skipIf(elasticsearchUrl() === undefined)('loading into Elasticsearch', () =>
  contractsWithin(() => elasticPlace(6)),
)
