import { expect } from 'bun:test'
import { formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import type { Service } from '#test/support/processes/service.ts'

/** A parsed answer: objects are Maps, numbers are texts as written, so nothing is rounded and no name is special. */
export type Data = null | boolean | string | readonly Data[] | ReadonlyMap<string, Data>

export const parseData = (text: string): Data =>
  JSON.parse(text, (_key, value, context?: { source?: string }) => {
    if (typeof value === 'number') return context?.source ?? String(value)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return value instanceof Map ? value : new Map(Object.entries(value))
  }) as Data

export const field = (data: Data | undefined, ...path: readonly string[]): Data | undefined =>
  path.reduce<Data | undefined>((at, name) => (at instanceof Map ? at.get(name) : undefined), data)

export function rowsOf(data: Data | undefined, name: string): readonly ReadonlyMap<string, Data>[] {
  const rows = field(data, name)
  if (!Array.isArray(rows)) throw new Error(`No list ${name} in the answer.`)
  return rows as ReadonlyMap<string, Data>[]
}

type Params = Readonly<Record<string, string | number>>

/** The text of an answer: `account-tx` is `get-account-tx`, found in all modules. */
export async function textOf(service: Service, action: string, params: Params = {}): Promise<string> {
  const found = actions.find(known => formatActionName(known) === `get-${action}`)
  const query = new URLSearchParams({ module: found?.module ?? '', action: found?.action ?? '' })
  for (const [name, value] of Object.entries(params)) query.set(name, String(value))
  const response = await service.ask(`/api/?${query}`, { headers: { 'x-api-key': service.key } })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${action} ${JSON.stringify(params)}: ${response.status} ${text}`)
  return text
}

export const dataOf = async (service: Service, action: string, params?: Params): Promise<Data> =>
  field(parseData(await textOf(service, action, params)), 'data') ?? null

export type ListQuery = {
  readonly action: string
  readonly list: string
  readonly params: Params
}

/**
 * Requests a page of a list and compares its text with the expected rows. Texts are compared because parsing half a
 * million rows takes longer than answering them. `rows`: the texts of all rows, in the requested order.
 */
export async function requirePage(
  service: Service,
  { action, list, params }: ListQuery,
  rows: readonly string[],
  { page, size }: { readonly page: number; readonly size: number },
): Promise<void> {
  const query = { ...params, page, size }
  const shown = rows.slice((page - 1) * size, page * size).join(',')
  const expected = `{"code":0,"message":"OK","data":{"${list}":[${shown}],"page":${page},"size":${size},"total":${rows.length}}}`
  const text = await textOf(service, action, query)
  if (text !== expected) expect([action, query, text]).toEqual([action, query, expected])
}

/** All rows of a list, page by page, until its total. Fails if a page is short or the total changes. */
export async function allRows(
  service: Service,
  action: string,
  name: string,
  params: Params,
  size: number,
): Promise<readonly ReadonlyMap<string, Data>[]> {
  const rows: ReadonlyMap<string, Data>[] = []
  for (let page = 1; ; page++) {
    const data = await dataOf(service, action, { ...params, page, size })
    const total = Number(field(data, 'total'))
    const got = rowsOf(data, name)
    if (got.length !== Math.max(0, Math.min(size, total - rows.length)))
      throw new Error(`${action} ${JSON.stringify(params)} page ${page} of ${size}: ${got.length} rows of ${total}`)
    rows.push(...got)
    if (rows.length >= total) return rows
  }
}
