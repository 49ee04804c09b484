import { expect, setDefaultTimeout, test } from 'bun:test'
import { fill, forkedChain } from '../support/nodes/forked.ts'
import { replayedNode } from '../support/nodes/replayed-node.ts'
import { type FeedEvent, feedMessages } from '../support/processes/feed-client.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { damageableSqlite } from '../support/stores/damage.ts'
import { loadFrom } from '../support/stores/loading.ts'
import { repairedEnd } from '../support/stores/repaired-end.ts'
import { until } from '../support/wait.ts'

/** Readers that are away while a repair takes blocks back, and return when the chain is longer than before. */

setDefaultTimeout(600_000)

const HEIGHT = 750
const NEXT = 755
const ORPHANS = 3
const LIST = 'module=base&action=get-block-list&format=sse'
const SEARCHED = 'module=account&action=get-account-tx&account=admin,token.iost&format=sse'

const replay = replayedNode(NEXT)

type Asked = { readonly query?: string; readonly last?: string | undefined; readonly list?: string }

/** The first `count` messages of a feed. `messages` collects those that have come so far. */
async function messagesOf(
  service: Service,
  { query = '', last, list = LIST }: Asked,
  count: number,
  messages: FeedEvent[] = [],
) {
  const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last }
  const response = await service.ask(`/api/?apikey=${service.key}&${list}${query}`, { headers })
  expect(response.status).toBe(200)
  for await (const message of feedMessages(response.body)) {
    messages.push(message)
    if (messages.length === count) break
  }
  return messages
}

/**
 * Calls `before` while the last blocks of the store are not the chain's, and `after` when they were taken
 * back and the chain has grown.
 */
async function repaired(before: (service: Service) => Promise<void>, after: (service: Service) => Promise<void>) {
  const place = await damageableSqlite()
  try {
    await fill(place.store, await forkedChain(HEIGHT, ORPHANS), HEIGHT + 5)
    await before(serviceOn(place.reopen()))
    expect((await repairedEnd(place.store, replay.node)).aligned.way).toBe('back')
    expect(await loadFrom(replay.url, place.store)).toBe(NEXT)
    await after(serviceOn(place.reopen()))
  } finally {
    await place.destroy()
  }
}

test('feeds: the id of the last row sent at once names its branch, and a client that returns with it learns that rows were taken back', async () => {
  const ids: Record<string, string> = {}
  await repaired(
    async service => {
      const [begin, ...events] = await messagesOf(service, { query: `&start_seq=${HEIGHT}` }, 3)
      // The id of any other row is its seq alone.
      expect(events.map(({ id, data }) => [id?.replace(/@.*/, '@'), data !== ''])).toEqual([
        [String(HEIGHT), true],
        [`${HEIGHT + 1}@`, true],
      ])
      Object.assign(ids, { begin: begin?.id, end: events.at(-1)?.id })
      const [now] = await messagesOf(service, {}, 1)
      Object.assign(ids, { now: now?.id })
      const [early] = await messagesOf(service, { last: '100' }, 1)
      Object.assign(ids, { early: early?.id })
    },
    async service => {
      for (const head of ['', '&head=1'])
        for (const name of ['end', 'now', 'begin']) {
          const [begin, reset] = await messagesOf(service, { query: head, last: ids[name] }, 2)
          expect([name, begin?.id]).toEqual([name, ids[name]])
          // The highest block named by the id that is still on the chain, and the number of its row.
          expect([name, reset?.id, reset?.event]).toEqual([name, String(HEIGHT - 15), 'reset'])
          expect(JSON.parse(reset?.data ?? '')).toMatchObject({
            seq: HEIGHT - 15,
            block_height: String(HEIGHT - 16),
          })
        }
      // None of its rows was taken back.
      const [, row] = await messagesOf(service, { last: ids['early'] }, 2)
      expect([row?.id, row?.event]).toEqual(['101', 'message'])
      // An id without a trail does not identify a branch.
      const [, next] = await messagesOf(service, { last: String(HEIGHT + 1) }, 2)
      expect([next?.id, next?.event]).toEqual([String(HEIGHT + 2), 'message'])
    },
  )
})

test('feeds: a feed of searched rows, begun at a block that is taken back, sends a reset and continues', async () => {
  let id: string | undefined
  let open: Promise<readonly FeedEvent[]> | undefined
  const told = (events: readonly FeedEvent[] | undefined) =>
    events?.map(({ event, data }) => [event, data === '' ? '' : JSON.parse(data).block_height])
  const RESET = [
    ['message', ''],
    ['reset', String(HEIGHT - 16)],
  ]
  await repaired(
    async service => {
      const [begin] = await messagesOf(service, { list: SEARCHED }, 1)
      id = begin?.id
      const got: FeedEvent[] = []
      open = messagesOf(service, { list: SEARCHED }, 2, got)
      await until(() => got.length > 0)
    },
    async service => {
      expect(told(await open)).toEqual(RESET)
      const [begin, reset] = await messagesOf(service, { list: SEARCHED, last: id }, 2)
      expect(begin?.id).toBe(id)
      expect(told([begin, reset].filter(event => event !== undefined))).toEqual(RESET)
      // The feed continues with the rows after the remaining blocks.
      const all = await service.ask(
        `/api/?apikey=${service.key}&${SEARCHED.replace('sse', 'ndjson')}&sort=asc&start_block=${HEIGHT - 15}`,
      )
      const rows = (await all.text()).split('\n').slice(0, -2)
      const [, ...events] = await messagesOf(service, { list: SEARCHED, last: reset?.id }, 1 + rows.length)
      expect(rows.length).toBeGreaterThan(0)
      expect(events.map(({ data }) => data)).toEqual(rows)
    },
  )
})
