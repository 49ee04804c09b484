import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Store } from '#store/port.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

/** These NFTs carry as much metadata as a transaction can hold. Together they exceed the size of an answer. */
const COUNT = 300
const BYTES = 60 * 1024
const EACH = 20

const metadataOf = (number: number): string => String(number).padEnd(BYTES, '.')
const said = (name: string, args: readonly string[]) => receipt(`token721.iost/${name}`, args)

let store: Store
let destroy: () => Promise<void>
beforeAll(async () => {
  ;({ store, destroy } = await temporarySqlite())
  const issues = Array.from({ length: COUNT }, (_, at) => said('issue', ['cats', 'alice00', metadataOf(at)]))
  const blocks = Array.from({ length: COUNT / EACH }, (_, at) => [
    transaction({ receipts: issues.slice(at * EACH, (at + 1) * EACH) }),
  ])
  const create = [transaction({ receipts: [said('create', ['cats', 'alice00', '1000'])] })]
  await commitRuns(store, [chainOf([genesis()], create, ...blocks)], { lib: blocks.length + 1 })
})
afterAll(() => destroy())

const LISTS = [
  ['get-collection-nfts', { collection: 'cats' }],
  ['get-account-nfts', { account: 'alice00' }],
] as const

test.each(LISTS)(
  '%s: a page whose metadata exceeds the size of an answer is refused, half of that page is answered',
  async (action, of) => {
    const deps = { store }
    expect(await refusal(ask(action, { ...of, size: '500' }, { deps }))).toEqual({
      kind: 'bad_request',
      en: "Parameter 'size': the long texts of this page exceed 16 MB; request at most 150 rows.",
      zh: "参数 'size'：本页的长文本超过 16 MB；每页请最多请求 150 行。",
    })
    const { nfts } = await ask(action, { ...of, size: '150', page: '2' }, { deps })
    expect(nfts.length).toBe(150)
    for (const { token_id, metadata } of nfts) expect(metadata).toBe(metadataOf(Number(token_id)))
  },
)

test.each(LISTS)('%s: an export has all rows, whatever their length', async (action, of) => {
  const service = serviceOn(store)
  const query = new URLSearchParams({ module: 'nft', action, ...of, format: 'ndjson', apikey: service.key })
  const lines = (await (await service.ask(`/api/?${query}`)).text()).split('\n').slice(0, -2)
  const rows = lines.map(line => JSON.parse(line) as Row)
  expect(rows.map(({ token_id }) => Number(token_id)).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: COUNT }, (_, at) => at),
  )
  for (const { token_id, metadata } of rows) expect(metadata).toBe(metadataOf(Number(token_id)))
})

type Row = { readonly token_id: string; readonly metadata: string }
