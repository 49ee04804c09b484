import { expect, test } from 'bun:test'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { ancestor, type ForkBlock } from './fork-node.ts'
import type { AnsweredRow } from './lists.ts'
import { type ForkStand, STORES, withStand } from './stand.ts'

type Page = Awaited<ReturnType<typeof get>>

async function get({ service }: ForkStand, path: string) {
  const response = await service.ask(path, { headers: { 'x-api-key': service.key } })
  const { status, headers } = response
  // biome-ignore lint/suspicious/noExplicitAny: An answer as it came.
  const body = (await response.json()) as any
  const rows: readonly AnsweredRow[] = body.data?.blocks ?? body.data?.transactions ?? []
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
  await stand.poll()
  return head
}

const onFork = (seed: number, work: (stand: ForkStand, base: number) => Promise<void>) =>
  withStand(STORES[0][1], seed, stand => work(stand, stand.forks.base.made.height))

const BLOCKS = '/api/base/get-block-list?head=1'
const TRANSACTIONS = '/api/base/get-transaction-list?head=1'

test('pages with head=1: links to the next page skip and repeat no row, however many blocks arrive meanwhile', () =>
  onFork(7, async (stand, base) => {
    let head = await goOn(stand, stand.forks.base, 8, base)
    for (const list of [BLOCKS, TRANSACTIONS, '/api/token/get-token-tx?head=1&token=iost'])
      for (const sort of ['desc', 'asc']) {
        const path = `${list}&start_block=${base - 2}&sort=${sort}`
        const whole = await get(stand, `${path}&size=500`)
        const rows: AnsweredRow[] = []
        let lib = base
        for (let at: string | undefined = `${path}&size=3`; at !== undefined && rows.length < whole.rows.length; ) {
          const page: Page = await get(stand, at)
          expect([at, page.status]).toEqual([at, 200])
          rows.push(...page.rows)
          at = page.next
          if (lib > base + 1) continue
          // Packed blocks become irreversible between the pages.
          lib += 1
          head = await goOn(stand, head, 2, Math.max(stand.node.stand.lib, lib))
        }
        const ids = rows.slice(0, whole.rows.length).map(({ id }) => id)
        expect([path, ids]).toEqual([path, whole.rows.map(({ id }) => id)])
      }
  }))

test('pages with head=1: a page after a replaced row is refused, and pages after remaining rows work', () =>
  onFork(8, async (stand, base) => {
    const head = await goOn(stand, stand.forks.base, 8, base)
    const { rows } = await get(stand, `${BLOCKS}&size=20`)
    const behind = (row: AnsweredRow | undefined, more = '') =>
      get(stand, `${BLOCKS}&size=3&after=${row?.['id']}${more}`)
    const numbersAfter = async (at: number, more = '') =>
      (await behind(rows[at], more)).rows.map(({ number }) => Number(number) - base)
    expect(await numbersAfter(2)).toEqual([5, 4, 3])
    expect((await behind(rows[2])).body['data']).toMatchObject({ page: 1, total: base + 6 })
    expect(await numbersAfter(2, '&sort=asc')).toEqual([7, 8])
    expect(await numbersAfter(2, '&page=2')).toEqual([2, 1, 0])

    await goOn(stand, ancestor(head, base + 4), 6, base + 1)
    for (const [lang, word] of [
      ['en', `Block ${base + 6}`],
      ['zh', `区块 ${base + 6}`],
    ]) {
      const { status, body } = await behind(rows[2], `&lang=${lang}`)
      expect([status, body]).toMatchObject([409, { code: 4090, message: expect.stringContaining(word ?? '') }])
    }
    expect(await numbersAfter(4)).toEqual([3, 2, 1])
    expect(await numbersAfter(7)).toEqual([0, -1, -2])
    // The row's block was replaced, and its rival is now irreversible.
    await goOn(stand, stand.node.stand.head, 1, base + 7)
    expect((await behind(rows[2])).status).toBe(409)

    const [packed] = (await get(stand, `${BLOCKS}&size=1`)).rows
    stand.restart()
    // After the restart the head is not known yet.
    const unknown = await behind(packed)
    expect([unknown.status, unknown.headers.has('retry-after')]).toEqual([503, true])
    expect((await behind(rows[4])).status).toBe(200)
  }))

test('after: is accepted only with head=1 and the id of a row of the list, and not in feeds', () =>
  onFork(9, async (stand, base) => {
    await goOn(stand, stand.forks.base, 3, base)
    const { id, number } = (await get(stand, `${BLOCKS}&size=1`)).rows[0] ?? {}
    for (const [path, said] of [
      [`/api/base/get-block-list?after=${id}`, "Parameter 'after' is given without head=1;"],
      [`${BLOCKS}&after=17`, "Parameter 'after' is '17';"],
      [`${TRANSACTIONS}&after=${id}`, `Parameter 'after' names a row of block ${number} that this list does not have;`],
      [`${BLOCKS}&format=sse&after=${id}`, ''],
    ] as const) {
      const { status, body } = await get(stand, path)
      expect([status, body]).toMatchObject([
        400,
        { code: 4000, message: expect.stringMatching(new RegExp(`^${said}`)) },
      ])
    }
    // Without head=1 rows have no id, and pages are numbered.
    const plain = await get(stand, '/api/base/get-block-list?size=1')
    expect([plain.rows[0]?.['id'], plain.next]).toEqual([undefined, '/api/base/get-block-list?size=1&page=2'])

    // The follower reads the next block before the node is probed again, and the overview counts it like the lists.
    stand.show(stand.forks.growLine(stand.node.stand.head, 1, 5), base)
    await stand.poll()
    expect((await get(stand, `${BLOCKS}&size=1`)).headers.get('x-head-height')).toBe(String(base + 4))
    const overview = await get(stand, '/api/base/get-overview')
    expect(overview.body['data']).toMatchObject({ head_block: String(base + 4), lib_block: base })
  }))

test('after: a service without a node does not know a block above its last one, unless the chain cannot be that high', async () => {
  const { ask, key } = serviceOn(await loadedStore())
  const answer = async (query: string) =>
    (await (await ask(`/api/${query}&format=bare&apikey=${key}`)).json()) as {
      readonly blocks?: readonly { readonly id: string }[]
    }
  const list = 'base/get-block-list?head=1'
  const [{ id = '' } = {}] = (await answer(`${list}&size=1`)).blocks ?? []
  for (const path of [list, 'account/get-account-tx?account=busyhub&min_amount=1'])
    for (const [height, expected] of [
      // Another instance may know the block, or a repair took it back, and then its row is replaced.
      [4_900, { code: 5030 }],
      [
        900_000_000,
        {
          code: 4000,
          message:
            "Parameter 'after' names a row of block 900000000, but the last block that this service knows is 4851; it must be the id of a row of the same list.",
        },
      ],
    ] as const) {
      const after = id.replace(/^\d+/, String(height).padStart(12, '0'))
      expect([path, await answer(`${path}&after=${after}`)]).toMatchObject([path, expected])
    }
})
