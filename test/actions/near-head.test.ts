import { expect, test } from 'bun:test'
import type { ForkBlock } from '../head/fork-node.ts'
import { type ForkStand, STORES, withStand } from '../head/stand.ts'

const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
const UNKNOWN = [
  `transaction&action=get-transaction-detail&tx_hash=${HASH}`,
  `transaction&action=get-transaction-receipt&tx_hash=${HASH}`,
  'block&action=get-block-detail&number=70',
  `block&action=get-block-detail&hash=${HASH}`,
]

/** Grows blocks, which are irreversible at once, and lets both nodes have them. */
function stands(stand: ForkStand, from: ForkBlock, blocks: number): ForkBlock {
  const head = stand.forks.growLine(from, blocks, 1)
  stand.show(head, head.made.height)
  return head
}
const statuses = async (stand: ForkStand): Promise<readonly number[]> =>
  stand.done(
    Promise.all(
      UNKNOWN.map(async query => (await stand.service.ask(`/api/?module=${query}&apikey=${stand.service.key}`)).status),
    ),
  )

test('where every block is irreversible at once: unknown things are not found, even if the node was last seen below the published height', () =>
    withStand(STORES[0][1], 23, async stand => {
      const first = stands(stand, stand.forks.base, 5)
      await stand.load()
      await stand.probe()
      expect(await statuses(stand)).toEqual([404, 404, 404, 404])
      const next = stands(stand, first, 5)
      await stand.load()
      let looks = 0
      for (const node of [stand.node, stand.other])
        node.meddle = call => {
          if (call === 'getChainInfo') looks += 1
          return undefined
        }
      expect(await statuses(stand)).toEqual([404, 404, 404, 404])
      // All queries shared one probe of the node, or the next one.
      expect(looks).toBeGreaterThan(0)
      expect(looks).toBeLessThanOrEqual(2)
      // A node that is behind cannot tell whether something exists.
      stands(stand, next, 5)
      await stand.load()
      stands(stand, next, 2)
      expect(await statuses(stand)).toEqual([503, 503, 503, 503])
    }))
