import { expect, test } from 'bun:test'
import type { ForkBlock } from '../head/fork-node.ts'
import type { ForkStand } from '../head/stand.ts'
import { STORES, withStand } from '../head/stores.ts'

const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
const UNKNOWN = [
  `transaction&action=get-transaction-detail&tx_hash=${HASH}`,
  `transaction&action=get-transaction-receipt&tx_hash=${HASH}`,
  'block&action=get-block-detail&number=70',
  `block&action=get-block-detail&hash=${HASH}`,
]

function grown({ forks }: ForkStand, from: ForkBlock, blocks: number): ForkBlock {
  let tip = from
  for (let more = 0; more < blocks; more += 1) tip = forks.grow(tip, { waits: false, seed: 1 })
  return tip
}
function stands({ node, other }: ForkStand, head: ForkBlock): void {
  for (const each of [node, other]) each.stand = { head, lib: head.made.height }
}
const statuses = async (stand: ForkStand): Promise<readonly number[]> =>
  stand.done(
    Promise.all(
      UNKNOWN.map(async query => (await stand.service.ask(`/api/?module=${query}&apikey=${stand.service.key}`)).status),
    ),
  )

test.each(STORES)(
  'where every block is irreversible at once: %s: unknown things are not found, even if the node was last seen below the published height',
  (_name, open) =>
    withStand(open, 23, async stand => {
      const first = grown(stand, stand.forks.base, 5)
      stands(stand, first)
      await stand.load()
      await stand.probe()
      expect(await statuses(stand)).toEqual([404, 404, 404, 404])
      const next = grown(stand, first, 5)
      stands(stand, next)
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
      const last = grown(stand, next, 5)
      stands(stand, last)
      await stand.load()
      stands(stand, grown(stand, next, 2))
      expect(await statuses(stand)).toEqual([503, 503, 503, 503])
    }),
)
