import { expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import { hashesOf } from '../generator/block.ts'
import type { ForkBlock } from '../head/fork-node.ts'
import { type ForkStand, STORES, withStand } from '../head/stand.ts'
import { serviceOn } from '../support/processes/service.ts'

/** The number of pending transactions of a wallet. */
const MANY = 50

function grown({ forks }: ForkStand, blocks: number, how: Parameters<ForkStand['forks']['grow']>[1]) {
  const line: ForkBlock[] = [forks.base]
  for (let more = 0; more < blocks; more += 1) line.push(forks.grow(line.at(-1) ?? forks.base, how))
  return line.slice(1)
}
/** The transactions of these blocks without the base transactions. */
const usersOf = (line: readonly ForkBlock[]) => line.flatMap(({ made }) => hashesOf(made).slice(1))

/** A service whose node has in its pool the transactions that another branch had packed. */
async function walletOn(stand: ForkStand) {
  const packed = grown(stand, 40, { waits: false, seed: 2 })
  const [tip] = grown(stand, 1, { waits: false, seed: 3 }).slice(-1)
  for (const node of [stand.node, stand.other]) node.stand = { head: tip ?? stand.forks.base, lib: 40 }
  await stand.probe()
  await stand.follower.poll(new AbortController().signal)
  const [first, second] = ['a', 'b'].map(name =>
    createKey(name, { perSecond: 1_000_000, perDay: 1_000_000 }, { now: 0 }),
  )
  if (first === undefined || second === undefined || tip === undefined) throw new Error('There is no key or tip.')
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
