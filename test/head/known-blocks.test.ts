import { expect, setDefaultTimeout, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { createFollower } from '#head/follow.ts'
import type { Node } from '#node/port.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { forkStand } from './stand.ts'

setDefaultTimeout(600_000)

/** More heads than a follower keeps besides its branch. */
const HEADS = 260

test('head: the number of kept blocks whose parent could not be fetched is limited', async () => {
  const { store, destroy } = await temporarySqlite()
  const stand = await forkStand(1, store)
  const { forks, node, other, client, clock } = stand
  const refused = forks.grow(forks.base, { waits: true, seed: 0 })
  const asked: string[] = []
  const get: Node['get'] = (path, how) => {
    asked.push(path)
    if (path.includes(refused.hash)) throw new Failure('bad_block', 'This block is refused.')
    return client.get(path, how)
  }
  const { poll } = createFollower({ node: { get }, store, prove: 'linked', clock, log: () => undefined })
  const { signal } = new AbortController()
  const heads = Array.from({ length: HEADS }, (_, at) => forks.grow(refused, { waits: true, seed: at + 1 }))
  for (const head of [...heads, ...heads.slice(0, 1)]) {
    node.stand = { head, lib: forks.base.made.height }
    other.stand = node.stand
    await poll(signal)
  }
  expect(asked.filter(path => path.includes(refused.hash))).toHaveLength(HEADS + 1)
  const timesOf = (at: number) => asked.filter(path => path.includes(heads[at]?.hash ?? '-')).length
  expect([timesOf(0), timesOf(1)]).toEqual([2, 1])
  stand.stop()
  await destroy()
})
