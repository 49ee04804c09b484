import { expect, test } from 'bun:test'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import type { ForkBlock } from './fork-node.ts'
import { ancestor } from './fork-node.ts'
import { type ForkStand, STORES, withStand } from './stand.ts'
import type { AnsweredRow } from './truth.ts'

type Page = {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly rows: readonly AnsweredRow[]
  readonly next: string | undefined
  readonly headers: Headers
}

async function get({ service }: ForkStand, path: string): Promise<Page> {
  const response = await service.ask(path, { headers: { 'x-api-key': service.key } })
  const { status, headers } = response
  // biome-ignore lint/suspicious/noExplicitAny: An answer as it came.
  const body = (await response.json()) as any
  const rows = body.data?.blocks ?? body.data?.transactions ?? []
  const query = /<(\?[^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  const next = query === undefined ? undefined : path.replace(/\?.*/s, '') + query
  return { status, body, rows, next, headers }
}

/** Adds blocks on top of `parent`. Both nodes switch to them, and the service polls them. */
async function goOn(stand: ForkStand, parent: ForkBlock, blocks: number, lib: number): Promise<ForkBlock> {
  const head = stand.forks.growLine(parent, blocks, lib)
  stand.show(head, lib)
  await stand.probe()
  await stand.load()
  await stand.follower.poll(new AbortController().signal)
  return head
}

const LISTS = ['/api/base/get-block-list', '/api/base/get-transaction-list', '/api/token/get-token-tx'] as const
const query = (list: string): string => (list.includes('token') ? '&token=iost' : '')

test('pages with head=1: links to the next page skip and repeat no row, however many blocks arrive meanwhile', () =>
  withStand(STORES[0][1], 7, async stand => {
    const base = stand.forks.base.made.height
    let head = await goOn(stand, stand.forks.base, 8, base)
    for (const list of LISTS)
      for (const sort of ['desc', 'asc']) {
        const start = `start_block=${base - 2}&sort=${sort}${query(list)}`
        const whole = await get(stand, `${list}?${start}&head=1&size=500`)
        const rows: AnsweredRow[] = []
        let lib = base
        for (
          let at: string | undefined = `${list}?${start}&head=1&size=3`;
          at !== undefined && rows.length < whole.rows.length;
        ) {
          const page: Page = await get(stand, at)
          expect([at, page.status]).toEqual([at, 200])
          rows.push(...page.rows)
          at = page.next
          if (lib > base + 1) continue
          // Packed blocks become irreversible between the pages.
          lib += 1
          head = await goOn(stand, head, 2, Math.max(stand.node.stand.lib, lib))
        }
        const ids = (of: readonly AnsweredRow[]) => of.map(({ id }) => id)
        expect([list, sort, ids(rows).slice(0, whole.rows.length)]).toEqual([list, sort, ids(whole.rows)])
      }
  }))

test('pages with head=1: a page after a replaced row is refused, and pages after remaining rows work', () =>
  withStand(STORES[0][1], 8, async stand => {
    const base = stand.forks.base.made.height
    const head = await goOn(stand, stand.forks.base, 8, base)
    const [list] = LISTS
    const { rows } = await get(stand, `${list}?head=1&size=20`)
    const behind = (row: AnsweredRow | undefined, more = '') =>
      get(stand, `${list}?head=1&size=3&after=${row?.['id']}${more}`)
    const numbers = (page: Page) => page.rows.map(({ number }) => number)
    expect(numbers(await behind(rows[2]))).toEqual([base + 5, base + 4, base + 3])
    expect((await behind(rows[2])).body['data']).toMatchObject({ page: 1, total: base + 6 })
    expect(numbers(await behind(rows[2], '&sort=asc'))).toEqual([base + 7, base + 8])
    expect(numbers(await behind(rows[2], '&page=2'))).toEqual([base + 2, base + 1, base])

    await goOn(stand, ancestor(head, base + 4), 6, base + 1)
    const gone = await behind(rows[2], '&lang=en')
    expect([gone.status, gone.body['code']]).toEqual([409, 4090])
    expect(gone.body['message']).toContain(`Block ${base + 6}`)
    expect((await behind(rows[2], '&lang=zh')).body['message']).toContain(`区块 ${base + 6}`)
    expect(numbers(await behind(rows[4]))).toEqual([base + 3, base + 2, base + 1])
    expect(numbers(await behind(rows[7]))).toEqual([base, base - 1, base - 2])
    // The row's block was replaced, and its rival is now irreversible.
    await goOn(stand, stand.node.stand.head, 1, base + 7)
    expect((await behind(rows[2])).status).toBe(409)

    const packed = (await get(stand, `${list}?head=1&size=1`)).rows[0]
    stand.restart()
    // After the restart the head is not known yet.
    const unknown = await behind(packed)
    expect([unknown.status, unknown.headers.has('retry-after')]).toEqual([503, true])
    expect((await behind(rows[4])).status).toBe(200)
  }))

test('after: is accepted only with head=1 and the id of a row of the list, and not in feeds', async () => {
  await withStand(STORES[0][1], 9, async stand => {
    await goOn(stand, stand.forks.base, 3, stand.forks.base.made.height)
    const [list, transactions] = LISTS
    const [block] = (await get(stand, `${list}?head=1&size=1`)).rows
    const refused = async (path: string) => {
      const { status, body } = await get(stand, path)
      return [status, body['code'], String(body['message']).split(';')[0]]
    }
    expect(await refused(`${list}?after=${block?.['id']}`)).toEqual([
      400,
      4000,
      "Parameter 'after' is given without head=1",
    ])
    expect((await refused(`${list}?head=1&after=17`))[2]).toBe("Parameter 'after' is '17'")
    const height = Number(block?.['number'])
    expect((await refused(`${transactions}?head=1&after=${block?.['id']}`))[2]).toBe(
      `Parameter 'after' names a row of block ${height} that this list does not have`,
    )
    expect((await refused(`${list}?head=1&format=sse&after=${block?.['id']}`))[0]).toBe(400)
    // Without head=1 rows have no id, and pages are numbered.
    const plain = await get(stand, `${list}?size=1`)
    expect([plain.rows[0]?.['id'], plain.next]).toEqual([undefined, `${list}?size=1&page=2`])

    // The follower reads the next block before the node is probed again, and the overview counts it like the lists.
    const base = stand.forks.base.made.height
    stand.show(stand.forks.growLine(stand.node.stand.head, 1, 5), base)
    await stand.follower.poll(new AbortController().signal)
    const newest = await get(stand, `${list}?head=1&size=1`)
    expect(newest.headers.get('x-head-height')).toBe(String(base + 4))
    const overview = await get(stand, '/api/base/get-overview')
    expect(overview.body['data']).toMatchObject({ head_block: String(base + 4), lib_block: base })
  })
})

test('after: a service without a node does not know a block above its last one, unless the chain cannot be that high', async () => {
  const { ask, key } = serviceOn(await loadedStore())
  const answered = async (query: string) =>
    (await (await ask(`/api/${query}&format=bare&apikey=${key}`)).json()) as {
      readonly blocks?: readonly { readonly id: string }[]
    }
  const list = 'base/get-block-list?head=1'
  const [{ id = '' } = {}] = (await answered(`${list}&size=1`)).blocks ?? []
  const idAt = (height: number): string => id.replace(/^\d+/, String(height).padStart(12, '0'))
  // Another instance may know the block, or a repair took it back, and then its row is replaced.
  const unknown = { code: 5030 }
  const beyond = {
    code: 4000,
    message:
      "Parameter 'after' names a row of block 900000000, but the last block that this service knows is 4851; it must be the id of a row of the same list.",
  }
  const search = 'account/get-account-tx?account=busyhub&min_amount=1'
  for (const of of [list, search]) {
    expect([of, await answered(`${of}&after=${idAt(4900)}`)]).toMatchObject([of, unknown])
    expect([of, await answered(`${of}&after=${idAt(900_000_000)}`)]).toMatchObject([of, beyond])
  }
})
