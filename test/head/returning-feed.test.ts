import { expect, test } from 'bun:test'
import { type FeedEvent, feedEvents } from '../support/processes/feed-client.ts'
import type { ForkBlock } from './fork-node.ts'
import { aboveOf, ancestor } from './lines.ts'
import type { ForkStand } from './stand.ts'
import { STORES, withStand } from './stores.ts'

function grown({ forks }: ForkStand, parent: ForkBlock, blocks: number, seed: number): ForkBlock {
  let tip = parent
  for (let more = 0; more < blocks; more += 1) tip = forks.grow(tip, { waits: false, seed: seed + more })
  return tip
}

function stands(stand: ForkStand, head: ForkBlock, lib: number): void {
  stand.node.stand = { head, lib }
  stand.other.stand = { head, lib }
}

async function follow(
  { service, clock }: ForkStand,
  lastId: string | undefined,
  count: number,
): Promise<readonly FeedEvent[]> {
  const ends = new AbortController()
  const headers = { 'x-api-key': service.key, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) }
  const { body } = await service.ask('/api/base/get-block-list?head=1&format=sse', {
    headers,
    signal: ends.signal,
  })
  const events: FeedEvent[] = []
  let isDone = false
  const reading = (async () => {
    for await (const event of feedEvents(body)) if (events.push(event) === count) break
    isDone = true
  })()
  while (!isDone) await Promise.race([clock.pass(10).then(() => Bun.sleep(1)), reading])
  ends.abort()
  return events
}

const namesOf = (events: readonly FeedEvent[]) =>
  events.map(({ event, data }) => {
    const row = JSON.parse(data)
    return [event, Number(row.from_block ?? row.number), row.id?.split('-').at(-1)]
  })

const named = (event: string, blocks: readonly ForkBlock[]) =>
  blocks.toReversed().map(({ made, hash }) => [event, made.height, hash])

test('feeds: after a restart, packed rows are dropped before irreversible rows are sent, and later sent again', () =>
  withStand(STORES[0][1], 3, async stand => {
    const { forks, follower } = stand
    const lib = forks.base.made.height
    const first = grown(stand, forks.base, 20, 1)
    stands(stand, first, lib)
    await follower.poll(new AbortController().signal)
    const before = await follow(stand, undefined, 20)
    expect(namesOf(before)).toEqual(named('packed', aboveOf(first, lib)))

    // No client is connected while the chain forks below its later irreversible block. Then the nodes do not answer.
    const fork = lib + 6
    const second = grown(stand, ancestor(first, fork), 18, 100)
    stands(stand, second, lib + 17)
    await stand.load()
    stand.node.isAway = true
    stand.other.isAway = true
    stand.restart()
    const after = await follow(stand, before.at(-1)?.id, 18)
    const irreversible = named('message', aboveOf(ancestor(second, lib + 17), lib))
    expect(namesOf(after)).toEqual([['dropped', lib + 1, undefined], ...irreversible])
    // Each row that became irreversible has the id that it had before.
    const idsOf = (events: readonly FeedEvent[]) => events.map(({ data }) => JSON.parse(data).id)
    expect(idsOf(after).slice(1, 7)).toEqual(idsOf(before).slice(0, 6))

    stand.node.isAway = false
    stand.other.isAway = false
    stand.clock.leap(5_000)
    await stand.probe()
    await stand.follower.poll(new AbortController().signal)
    const end = await follow(stand, after.at(-1)?.id, 8)
    expect(namesOf(end)).toEqual([['dropped', lib + 18, undefined], ...named('packed', aboveOf(second, lib + 17))])
  }))
