import { expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import { hashesOf } from '../generator/block.ts'
import { aboveOf, type ForkBlock } from '../head/fork-node.ts'
import { type ForkStand, STORES, withStand } from '../head/stand.ts'
import { serviceOn } from '../support/processes/service.ts'

/** The number of pending transactions of a wallet. */
const MANY = 50

/** The transactions of these blocks without the base transactions. */
const usersOf = (line: readonly ForkBlock[]) => line.flatMap(({ made }) => hashesOf(made).slice(1))

/** A service whose node has in its pool the transactions that another branch had packed. */
async function walletOn(stand: ForkStand) {
  const { base } = stand.forks
  const packed = aboveOf(stand.forks.growLine(base, 40, 2), base.made.height)
  const tip = stand.forks.growLine(base, 1, 100)
  stand.show(tip, base.made.height)
  await stand.probe()
  await stand.follower.poll(new AbortController().signal)
  const [first, second] = ['a', 'b'].map(name =>
    createKey(name, { perSecond: 1_000_000, perDay: 1_000_000 }, { now: 0 }),
  )
  if (first === undefined || second === undefined) throw new Error('There is no key.')
  const service = serviceOn(stand.store, {
    ...{ node: stand.client, head: stand.follower, clock: stand.clock },
    keys: [first.stored, second.stored],
  })
  const asked: string[] = []
  for (const node of [stand.node, stand.other])
    node.meddle = call => {
      asked.push(call)
      return undefined
    }
  const onTip = new Set(usersOf([tip]))
  return {
    tip,
    pending: [...new Set(usersOf(packed))].filter(hash => !onTip.has(hash)),
    keys: [first.key, second.key] as const,
    ask: async (hash: string, key: string) => {
      const response = await service.ask(
        `/api/?module=transaction&action=get-transaction-detail&tx_hash=${hash}&apikey=${key}`,
      )
      const { data } = (await response.json()) as { data?: { status: string } }
      return `${response.status} ${data?.status}`
    },
    /** The number of requests for a transaction that the nodes received since the last call. */
    calls: () => asked.splice(0).filter(call => call === 'getTxByHash').length,
  }
}

test.each(STORES)(
  'pending transactions requested one by one, all at once: %s: each is answered, equal requests share one call, and another key does not wait for all of them',
  (_name, open) =>
    withStand(open, 29, async stand => {
      const { tip, pending, keys, ask, calls } = await walletOn(stand)
      const hashes = pending.slice(0, MANY)
      expect(hashes.length).toBe(MANY)
      const ended: string[] = []
      const note = async (name: string, answer: Promise<string>): Promise<string> => {
        const said = await answer
        ended.push(name)
        return said
      }
      const own = hashes.map(hash => note('own', ask(hash, keys[0])))
      const other = note('other', ask(pending[MANY] ?? '', keys[1]))
      expect([...(await Promise.all(own)), await other]).toEqual(Array(MANY + 1).fill('200 PENDING'))
      expect(ended.at(-1)).toBe('own')
      expect(calls()).toBe(MANY + 1)
      const same = await Promise.all(hashes.map(() => ask(pending[MANY + 1] ?? '', keys[0])))
      expect([new Set(same), calls()]).toEqual([new Set(['200 PENDING']), 1])
      // Transactions on the followed branch cause no request to a node.
      const packed = await Promise.all(usersOf([tip]).map(hash => ask(hash, keys[0])))
      expect([new Set(packed), calls()]).toEqual([new Set(['200 PACKED']), 0])
    }),
)

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
