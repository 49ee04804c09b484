import { expect, test } from 'bun:test'
import type { ApiAction } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { findColumns } from '#actions/shape/results.ts'
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

async function service() {
  const { ask, key } = serviceOn(await loadedStore())
  return (query: string, headers: Record<string, string> = {}) => ask(`/api/?apikey=${key}&${query}`, { headers })
}
type Ask = Awaited<ReturnType<typeof service>>

/** The number of rows on all pages, and the pages that differ from `lines` in any character of a row. */
async function pagedRows(ask: Ask, action: ApiAction, lines: readonly string[], options = '') {
  const list = action.list ?? ''
  const isPaged = Object.hasOwn(action.params.properties, 'page')
  const differing: (readonly [is: unknown, listed: unknown])[] = []
  for (let rows = 0; ; ) {
    const part = isPaged ? `&page=${1 + rows / 500}&size=500` : ''
    const text = await (await ask(`${exampleOf(action)}${part}&format=bare${options}`)).text()
    const own = isPaged ? lines.slice(rows, rows + 500) : lines
    // Compares texts first: parsing with exact numbers is many times slower.
    const isSame = text.includes(`"${list}":[${own.join(',')}]`)
    const listed = isSame ? own : exactlyAll(text, list)
    if (!isSame) differing.push([own.map(exactly), listed])
    rows += listed.length
    if (!isPaged || listed.length < 500) return { rows, differing }
  }
}

const exactlyAll = (text: string, list: string): readonly string[] =>
  JSON.parse(exactly(text))[list].map((row: unknown) => JSON.stringify(row))

const exactly = (text: string): string =>
  JSON.stringify(
    JSON.parse(text, (_key, value, context?: { source: string }) =>
      typeof value === 'number' ? `number ${context?.source}` : value,
    ),
  )

/** The beginning of lists that may be long. They are compared as a whole in long runs. */
const partOf = (action: ApiAction): string =>
  !SOAK && Object.hasOwn(action.params.properties, 'end_seq') ? '&end_seq=1500' : ''

/** The rows of each action's list without options, once they were exported. */
const exported = new Map<ApiAction, readonly string[]>()

for (const action of lists) {
  for (const options of ['', '&numbers=string', '&compat=iostabc'])
    test(`exports: ${action.module} ${action.action} as NDJSON has the rows of its pages${options}`, async () => {
      const ask = await service()
      const asked = options + partOf(action)
      const response = await ask(`${exampleOf(action)}&format=ndjson${asked}`)
      const lines = (await response.text()).split('\n')
      if (options === '') exported.set(action, lines.slice(0, -2))
      const { rows, differing } = await pagedRows(ask, action, lines.slice(0, -2), asked)
      for (const [own, listed] of differing) expect(own).toEqual(listed)
      const block_height = response.headers.get('x-block-height')
      expect(lines.pop()).toBe('')
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ complete: true, rows, block_height })
      expect([response.headers.get('x-total-count'), lines.length - 1]).toEqual([String(rows), rows])
      expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    })

  test(`exports: ${action.module} ${action.action} as CSV has the same cells`, async () => {
    const ask = await service()
    const response = await ask(`${exampleOf(action)}&format=csv${partOf(action)}`)
    const [head, ...records] = readWholeCsv(await response.text())
    const columns = findColumns(action.result, action.list ?? '')?.usual
    expect(head).toEqual([...(columns ?? [action.list ?? ''])])
    // Only pages can contain rows that may still be replaced.
    if (Object.hasOwn(action.params.properties, 'head')) expect(head).not.toContain('status')
    const rows = exported.get(action) ?? []
    expect(records.length).toBe(rows.length)
    const digits = columns?.map(name => new RegExp(`"${name}":([0-9.-]+)`)) ?? []
    for (const [at, row] of rows.entries()) {
      const value = JSON.parse(row)
      const cells = columns === undefined ? [value] : columns.map(name => value[name])
      const expected = cells.map((cell, column): string => {
        if (cell === undefined || cell === null) return ''
        if (typeof cell === 'string') return cell
        // Digits are compared as text: the digits of a number follow its name in the row.
        if (typeof cell === 'number') return digits[column]?.exec(row)?.[1] ?? ''
        return rowJson(row, columns?.[column] ?? '', cell)
      })
      // A line break between the values of JSON text stays in a cell. In a line of NDJSON it is a space.
      const [is, wanted] = [records[at]?.map(inOneLine), expected.map(inOneLine)]
      if (is?.length !== wanted.length || is.some((cell, column) => cell !== wanted[column])) expect(is).toEqual(wanted)
    }
  })
}

const inOneLine = (text: string): string => text.replaceAll(/[\r\n]/g, ' ')

/** The JSON text of an array or object in its row. */
function rowJson(row: string, name: string, value: unknown): string {
  const text = JSON.stringify(value)
  if (row.includes(`"${name}":${text}`)) return text
  const from = row.indexOf(`"${name}":`) + name.length + 3
  for (let to = from + 1; to <= row.length; to += 1)
    try {
      JSON.parse(row.slice(from, to))
      if (row[from] === '[' || row[from] === '{') return row.slice(from, to)
    } catch {}
  return text
}

test('exports: pages and actions without a list are refused', async () => {
  const ask = await service()
  const message = async (query: string) => {
    const response = await ask(query)
    return [response.status, ((await response.json()) as { message: string }).message]
  }
  expect(await message('module=base&action=get-wealth-list&format=csv&page=1')).toEqual([
    400,
    "Parameter 'page' does not go with format=csv, which returns the whole list; leave it out.",
  ])
  expect(await message('module=token&action=get-token-holder&token=iost&format=ndjson&size=5')).toEqual([
    400,
    "Parameter 'size' does not go with format=ndjson, which returns the whole list; leave it out.",
  ])
  expect(await message('module=base&action=get-overview&format=csv')).toEqual([
    400,
    "Parameter 'format' is 'csv', which is for actions that return a list; use envelope or bare.",
  ])
  expect(await message('module=token&action=get-token-holder&token=nosuch&format=csv')).toEqual([
    404,
    "Token 'nosuch' does not exist at block 4851.",
  ])
})

test.each([
  'module=account&action=get-token-list&account=busyhub',
  'module=token&action=get-token-holder&token=wei18',
  'module=producer&action=get-producer-voter&producer=prod_13',
])('exports: files of the past name their block (%s)', async query => {
  const ask = await service()
  for (const [point, options] of [
    ['at_block=3000', ''],
    ['at_time=2026-11-21T08:08:28Z', '&numbers=string'],
  ] as const) {
    const answer = await ask(`${query}&${point}&format=ndjson${options}`)
    const last = JSON.parse((await answer.text()).trimEnd().split('\n').at(-1) ?? '')
    const said = await (await ask(`${query}&${point}&format=bare`)).json()
    const { at_block, at_time } = said as { readonly at_block: number; readonly at_time: string }
    expect(last).toMatchObject({ complete: true, block_height: '4851', at_block, at_time })
    const name = `${new URLSearchParams(query).get('action')}-${at_block}`
    expect([at_block >= 3000, at_block <= 3001]).toEqual([true, true])
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${name}.ndjson"`)
    const file = await ask(`${query}&${point}&format=csv`)
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${name}.csv"`)
  }
})

test('exports: shares of a period name their blocks and their sum', async () => {
  const ask = await service()
  const query = 'module=producer&action=get-reward-shares&producer=prod_13&start_block=2000&end_block=3000'
  const answer = await ask(`${query}&format=ndjson&numbers=string`)
  const [last] = (await answer.text()).trimEnd().split('\n').slice(-1)
  const said = await (await ask(`${query}&format=bare&numbers=string&page=1&size=1`)).json()
  const { shares: _, page: __, size: ___, total, ...beside } = said as Readonly<Record<string, unknown>>
  expect(JSON.parse(last ?? '')).toEqual({ complete: true, rows: total, block_height: '4851', ...beside })
  expect(answer.headers.get('content-disposition')).toContain('"get-reward-shares-2000-3000.ndjson"')
})

test('exports: an unknown account or token has no rows with compat=iostabc', async () => {
  const ask = await service()
  const response = await ask('module=token&action=get-token-holder&token=nosuch&format=csv&compat=iostabc')
  expect([response.status, await response.text()]).toEqual([200, 'account,balance,symbol,complete_rows\r\n'])
})

test('exports: a gzip export is one stream of the same bytes', async () => {
  const ask = await service()
  const query = 'module=base&action=get-wealth-list&format=csv'
  const plain = await (await ask(query)).text()
  const packed = await ask(query, { 'accept-encoding': 'gzip' })
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  expect(new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(await packed.arrayBuffer())))).toBe(plain)
})
