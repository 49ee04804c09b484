import { expect, test } from 'bun:test'
import type { ApiAction } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { findColumns } from '#actions/shape/results.ts'
import { feedEvents } from '#test/support/processes/feed-client.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

const lists = actions.filter(({ list }) => list !== undefined)

/** The parameters of an action's example without the paging parameters. */
function exampleOf({ module, action, example }: ApiAction): string {
  const { page: _, size: __, ...rest } = example
  return new URLSearchParams({ module, action, ...rest }).toString()
}

const service = serviceOn(await loadedStore())
const ask = (query: string, headers: Record<string, string> = {}) =>
  service.ask(`/api/?apikey=${service.key}&${query}`, { headers })
async function readExport(query: string) {
  const { headers, body } = await ask(query)
  const text = await new Response(body).text()
  expect(text).toEndWith('\n')
  return { headers, lines: text.slice(0, -1).split('\n') }
}

/** The beginning of lists that may be long. They are compared as a whole in long runs. */
const partOf = (action: ApiAction): string =>
  !SOAK && Object.hasOwn(action.params.properties, 'end_seq') ? '&end_seq=1500' : ''

/** Requires that the pages of a list have the lines, character for character. Returns the number of rows. */
async function expectPages(action: ApiAction, lines: readonly string[], options: string): Promise<number> {
  const isPaged = Object.hasOwn(action.params.properties, 'page')
  for (let rows = 0; ; rows += 500) {
    const part = isPaged ? `&page=${1 + rows / 500}&size=500` : ''
    const text = await (await ask(`${exampleOf(action)}${part}&format=bare${options}`)).text()
    const own = isPaged ? lines.slice(rows, rows + 500) : lines
    // A line break between the values of JSON text is a space in a line of NDJSON.
    const isSame = text.replaceAll(/[\r\n]/g, ' ').includes(`"${action.list}":[${own.join(',')}]`)
    expect([part, own.length, isSame]).toEqual([part, own.length, true])
    if (!isPaged || own.length < 500) return rows + own.length
  }
}

// The client reads every list with numbers as text, so this is compared in client/client.test.ts.
for (const action of lists)
  for (const options of ['', '&compat=iostabc'])
    test(`exports: ${action.module} ${action.action} as NDJSON has the rows of its pages${options}`, async () => {
      const asked = options + partOf(action)
      const { headers, lines } = await readExport(`${exampleOf(action)}&format=ndjson${asked}`)
      const rows = await expectPages(action, lines.slice(0, -1), asked)
      const block_height = headers.get('x-block-height')
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ complete: true, rows, block_height })
      expect([headers.get('x-total-count'), lines.length - 1]).toEqual([String(rows), rows])
      expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    })

/** Arrays and objects as values, because the space between the values of JSON text may be a line break in a cell. */
const readCell = (cell: string | undefined, value: unknown): unknown =>
  typeof value === 'object' && value !== null ? JSON.parse(cell ?? '') : cell

test.each(lists.map(action => [action.action, action] as const))(
  'exports: %s as CSV has the same cells',
  async (_, action) => {
    const query = `${exampleOf(action)}${partOf(action)}`
    const [head, ...records] = readWholeCsv(await (await ask(`${query}&format=csv`)).text())
    const columns = findColumns(action.result, action.list ?? '')?.usual
    expect(head).toEqual([...(columns ?? [action.list ?? ''])])
    // Only pages can contain rows that may still be replaced.
    if (Object.hasOwn(action.params.properties, 'head')) expect(head).not.toContain('status')
    // Amounts as text have the digits of numbers.
    const { lines } = await readExport(`${query}&format=ndjson&numbers=string`)
    expect(records.length).toBe(lines.length - 1)
    for (const [at, record] of records.entries()) {
      const row = JSON.parse(lines[at] ?? '')
      const values: readonly unknown[] = columns === undefined ? [row] : columns.map(name => row[name] ?? '')
      const cells = values.map((value, column) => readCell(record[column], value))
      const expected = values.map(value => (typeof value === 'object' ? value : String(value)))
      if (!Bun.deepEquals(cells, expected)) expect(cells).toEqual(expected)
    }
  },
)

test('exports: pages and actions without a list are refused', async () => {
  const message = async (query: string) => {
    const response = await ask(query)
    return [response.status, ((await response.json()) as { message: string }).message]
  }
  for (const [query, said] of [
    ['base&action=get-wealth-list&format=csv&page=1', "'page' does not go with format=csv"],
    ['token&action=get-token-holder&token=iost&format=ndjson&size=5', "'size' does not go with format=ndjson"],
    ['base&action=get-overview&format=csv', "'format' is 'csv', which is for actions that return a list"],
  ])
    expect(await message(`module=${query}`)).toEqual([400, expect.stringContaining(`Parameter ${said}`)])
})

test.each([
  'module=account&action=get-token-list&account=busyhub',
  'module=token&action=get-token-holder&token=wei18',
  'module=producer&action=get-producer-voter&producer=prod_13',
])('exports: files of the past name their block (%s)', async query => {
  for (const [point, options] of [
    ['at_block=3000', ''],
    ['at_time=2026-11-21T08:08:28Z', '&numbers=string'],
  ] as const) {
    const answer = await readExport(`${query}&${point}&format=ndjson${options}`)
    const last = JSON.parse(answer.lines.at(-1) ?? '')
    const said = await (await ask(`${query}&${point}&format=bare`)).json()
    const { at_block, at_time } = said as { readonly at_block: number; readonly at_time: string }
    expect(last).toMatchObject({ complete: true, block_height: '4851', at_block, at_time })
    expect([at_block >= 3000, at_block <= 3001]).toEqual([true, true])
    const name = `${new URLSearchParams(query).get('action')}-${at_block}`
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${name}.ndjson"`)
    const { headers } = await readExport(`${query}&${point}&format=csv`)
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}.csv"`)
  }
})

test('exports: shares of a period name their blocks and their sum', async () => {
  const query = 'module=producer&action=get-reward-shares&producer=prod_13&start_block=2000&end_block=3000'
  const { headers, lines } = await readExport(`${query}&format=ndjson&numbers=string`)
  const said = await (await ask(`${query}&format=bare&numbers=string&page=1&size=1`)).json()
  const { shares: _, page: __, size: ___, total, ...beside } = said as Readonly<Record<string, unknown>>
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ complete: true, rows: total, block_height: '4851', ...beside })
  expect(headers.get('content-disposition')).toContain('"get-reward-shares-2000-3000.ndjson"')
})

test('exports: an unknown account or token has no rows with compat=iostabc', async () => {
  const response = await ask('module=token&action=get-token-holder&token=nosuch&format=csv&compat=iostabc')
  expect([response.status, await response.text()]).toEqual([200, 'account,balance,symbol,complete_rows\r\n'])
})

test('exports: a gzip export is one stream of the same bytes', async () => {
  const query = 'module=base&action=get-wealth-list&format=csv'
  const packed = await ask(query, { 'accept-encoding': 'gzip' })
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  const text = new TextDecoder().decode(Bun.gunzipSync(await packed.arrayBuffer()))
  expect(text).toBe(await (await ask(query)).text())
})

/** Lists of rows that a search finds. */
const SEARCHES = [
  'module=account&action=get-account-tx&account=busyhub&counterparty=user_001&min_amount=0.5',
  'module=account&action=get-account-tx&account=admin,tokenboss,user_001&direction=in',
  'module=token&action=get-token-tx&token=iost&memo=the%20last%20one',
]

test.each(SEARCHES)('%s: the export and the feed have the rows of its pages', async list => {
  const expected: string[] = []
  for (let after: string | undefined = ''; after !== undefined; ) {
    const answer = await ask(`${list}&sort=asc&size=500&format=bare${after}`)
    const { transactions, next } = (await answer.json()) as {
      readonly transactions: readonly { readonly id: string }[]
      readonly next?: string
    }
    expected.push(...transactions.map(({ id }) => id))
    after = next === undefined ? undefined : `&after=${next}`
  }
  expect(expected.length).toBeGreaterThan(0)
  const lines = (await readExport(`${list}&sort=asc&format=ndjson`)).lines.map(line => JSON.parse(line))
  expect(lines.slice(0, -1).map(({ id }) => id)).toEqual(expected)
  expect(lines.at(-1)).toEqual({ complete: true, rows: expected.length, block_height: '4851' })
  const [head = [], ...records] = readWholeCsv(await (await ask(`${list}&sort=asc&format=csv`)).text())
  expect([head[0], records.map(([id]) => id)]).toEqual(['id', expected])
  // The feed has the rows from a block on, and continues after an event.
  const idsOf = async (query: string, count: number, headers: Record<string, string> = {}) => {
    const ids: string[] = []
    const { body } = await ask(`${query}&format=sse`, headers)
    for await (const { id = '' } of feedEvents(body)) if (ids.push(id) === count) break
    return ids
  }
  expect(await idsOf(`${list}&start_block=0`, expected.length)).toEqual(expected)
  const rest = expected.slice(Math.floor(expected.length / 2))
  const last = { 'last-event-id': rest.shift() ?? '' }
  if (rest.length > 0) expect(await idsOf(list, rest.length, last)).toEqual(rest)
})
