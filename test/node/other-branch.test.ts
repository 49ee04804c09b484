import { expect, test } from 'bun:test'
import { createNode } from '#node/archive-node.ts'
import { createHashSource } from '#store/servable.ts'
import { ancestor, createForks, serveForks } from '../head/fork-node.ts'
import { type ForkStand, STORES, withStand } from '../head/stand.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { serviceOn } from '../support/processes/service.ts'
import { refusal } from '../support/refusal.ts'
import { loadOnce } from '../support/stores/loading.ts'

async function ready({ service }: Pick<ForkStand, 'service'>): Promise<readonly [status: number, body: object]> {
  const response = await service.ask('/ready')
  return [response.status, (await response.json()) as object]
}
async function troublesOf({ service }: ForkStand): Promise<readonly string[]> {
  const response = await service.ask('/status', { headers: { accept: 'application/json' } })
  const { troubles } = (await response.json()) as { readonly troubles: readonly { readonly what: string }[] }
  return troubles.map(({ what }) => what)
}
const passedOn = async ({ service }: ForkStand): Promise<number> =>
  (await service.ask(`/rpc/getChainInfo?apikey=${service.key}`)).status

/** A store with ten blocks of one branch, and two nodes. */
async function standing(stand: ForkStand) {
  const { forks } = stand
  const [own, rival] = [forks.growLine(forks.base, 10, 1), forks.growLine(forks.base, 20, 2)]
  stand.show(own, 50)
  await stand.load()
  await stand.probe()
  expect((await stand.published()).hash).toBe(own.hash)
  return { own, rival }
}

test('a node on another branch than the store is reported, and none of its data is passed on', () =>
  withStand(STORES[0][1], 19, async stand => {
    const { own, rival } = await standing(stand)
    const heightOf = async () => {
      const said = await (await stand.service.ask(`/rpc/getChainInfo?apikey=${stand.service.key}`)).json()
      return (said as { lib_block: string }).lib_block
    }
    expect([(await ready(stand))[0], await passedOn(stand)]).toEqual([200, 200])
    // The service keeps a node's answer for half a second.
    const see = async (): Promise<void> => {
      stand.clock.leap(1_000)
      await stand.probe()
    }

    // Of two nodes the other one is used, and the first one again when it is back.
    stand.node.stand = { head: rival, lib: 58 }
    await see()
    expect([(await ready(stand))[0], await heightOf()]).toEqual([200, '50'])
    stand.node.stand = { head: own, lib: 50 }
    stand.other.isAway = true
    await see()
    expect([(await ready(stand))[0], await heightOf()]).toEqual([200, '50'])
    stand.other.isAway = false

    // A node behind the store on the same branch is only behind.
    stand.show(ancestor(own, 46), 44)
    await see()
    expect([await ready(stand), await passedOn(stand)]).toMatchObject([[200, { behind: 0 }], 200])

    // A wiped node below the store, and one that is further on than the store.
    for (const [tip, lib, block] of [
      [ancestor(rival, 46), 44, 44],
      [rival, 58, 50],
    ] as const) {
      stand.show(tip, lib)
      await see()
      const why = `Block ${block} is ${ancestor(own, block).hash} in the store and ${ancestor(rival, block).hash} at the node.`
      expect(await ready(stand)).toEqual([200, expect.objectContaining({ ready: true, node: 'apart', behind: null })])
      expect(await troublesOf(stand)).toContain(why)
      stand.clock.leap(1_000)
      expect(await passedOn(stand)).toBe(503)
      const client = createNode({ urls: [stand.node.url] })
      expect(await refusal(loadOnce(client, stand.store))).toMatchObject({ kind: 'conflict', en: why })
      client.close()
    }
    await stand.follower.poll(new AbortController().signal)
    stand.clock.leap(5_000)
    await stand.follower.poll(new AbortController().signal)
    expect(stand.follower.current().status).toBe('apart')
  }))

test('/ready and status report a node of another chain', () =>
  withStand(STORES[0][1], 19, async stand => {
    const { store } = stand
    await standing(stand)
    const other = createForks(20, 40)
    await using folder = await cliFolder()
    const foreign = serveForks(other, { head: other.base, lib: 40 })
    try {
      const node = createNode({ urls: [foreign.url] })
      await node.watch(() => store.identity(), createHashSource(store))
      const why = /serves another chain than the store holds: genesis block \w+, not \w+/
      expect(node.whyUnfit()).toMatchObject({ is: 'foreign', node: foreign.url })
      const [status, body] = await ready({ service: serviceOn(store, { node, readyNeedsNode: true }) })
      expect([status, body]).toEqual([
        503,
        expect.objectContaining({ node: 'foreign', reason: expect.stringMatching(why) }),
      ])
      node.close()
      // A separate file, because this process keeps its store open.
      expect((await folder.run(['load', '--once', '--node', stand.node.url])).code).toBe(0)
      const said = await folder.run(['status', '--node', foreign.url])
      expect([said.code, said.out]).toEqual([3, expect.stringMatching(why)])
      expect(said.out).not.toContain('the node is behind')
    } finally {
      foreign.stop()
    }
  }))
