import { expect, test } from 'bun:test'
import { feedEvents } from '#test/support/processes/feed-client.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

/** Exports and feeds of searched rows must equal the pages. */

const store = await loadedStore()
const service = serviceOn(store)

const LISTS = [
  'module=account&action=get-account-tx&account=busyhub&counterparty=user_001&min_amount=0.5',
  'module=account&action=get-account-tx&account=admin,tokenboss,user_001&direction=in',
  'module=token&action=get-token-tx&token=iost&memo=the%20last%20one',
]

type Row = { readonly id: string }
type Page = { readonly transactions: readonly Row[]; readonly next?: string }

async function pagesOf(list: string): Promise<readonly string[]> {
  const rows: string[] = []
  for (let after = ''; ; ) {
    const answer = await service.ask(`/api/?apikey=${service.key}&${list}&sort=asc&size=500&format=bare${after}`)
    const { transactions, next } = (await answer.json()) as Page
    rows.push(...transactions.map(({ id }) => id))
    if (next === undefined) return rows
    after = `&after=${next}`
  }
}

test.each(LISTS)('%s: the export has the rows of its pages, and their number', async list => {
  const expected = await pagesOf(list)
  expect(expected.length).toBeGreaterThan(0)
  const body = await (await service.ask(`/api/?apikey=${service.key}&${list}&sort=asc&format=ndjson`)).text()
  const lines = body
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(lines.slice(0, -1).map(({ id }: Row) => id)).toEqual([...expected])
  expect(lines.at(-1)).toEqual({ complete: true, rows: expected.length, block_height: '4851' })
  const csv = await (await service.ask(`/api/?apikey=${service.key}&${list}&sort=asc&format=csv`)).text()
  const [[head], ...records] = [...readWholeCsv(csv)] as [readonly string[], ...(readonly string[])[]]
  expect([head, records.length]).toEqual(['id', expected.length])
})

test.each(LISTS)('%s: the feed has the rows from a block on, and continues after an event', async list => {
  const expected = await pagesOf(list)
  const first = await idsOf(`${list}&start_block=0`, expected.length)
  expect(first).toEqual([...expected])
  const at = Math.floor(expected.length / 2)
  const rest = expected.length - at - 1
  if (rest > 0) expect(await idsOf(list, rest, expected[at])).toEqual(expected.slice(at + 1))
})

/** The ids of `count` events of a feed. */
async function idsOf(list: string, count: number, last?: string): Promise<readonly string[]> {
  const response = await service.ask(`/api/?apikey=${service.key}&${list}&format=sse`, {
    headers: last === undefined ? {} : { 'last-event-id': last },
  })
  const ids: string[] = []
  for await (const { id = '' } of feedEvents(response.body)) if (ids.push(id) === count) break
  return ids
}
