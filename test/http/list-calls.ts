import { expect } from 'bun:test'
import type { ApiAction } from '#actions/define.ts'
import { chooseExample, findScenes } from '#actions/example/choose.ts'
import { actions } from '#actions/registry.ts'
import { listParameters } from '#actions/request/query.ts'
import { operationId } from '#http/openapi/action-operation.ts'
import type { Store } from '#store/port.ts'
import type { ClientAction, ServedClient } from '#test/support/processes/client.ts'
import type { Service } from '#test/support/processes/service.ts'
import { systemClock } from '#time/clock.ts'

/** Calls of every list of the registry that have rows, and the content of their pages and exports. */

export const lists = actions.filter(({ list }) => list !== undefined)

/** One call of a list. */
export type Call = {
  readonly action: ApiAction
  readonly params: Readonly<Record<string, string>>
  readonly name: string
}

/** The first block of the calls in reverse order, so that these have new rows as well as old ones. */
const FROM = '880'

/**
 * The parameters of the action's example, then a call for each filter that the example omits, then a call in
 * reverse order, from block FROM where possible.
 */
function examplesOf(action: ApiAction): readonly ApiAction['example'][] {
  const { page: _, size: __, ...example } = action.example
  const all = listParameters(action.params)
  const filters = all.filter(
    ({ name, required, spec }) => !required && spec.sample !== undefined && !Object.hasOwn(example, name),
  )
  const reverse = all.flatMap(({ name, spec: { values, fallback } }) =>
    name === 'sort' ? [['sort', values?.find(value => value !== fallback) ?? '']] : [],
  )
  const ranged = all.some(({ name }) => name === 'start_block') ? [['start_block', FROM]] : []
  return [
    example,
    ...filters.map(({ name }) => ({ ...example, [name]: '' })),
    ...(reverse.length === 0 ? [] : [{ ...example, ...Object.fromEntries([...reverse, ...ranged]) }]),
  ]
}

/** The calls of every list that have rows in the stored chain. */
export async function callsOn(store: Store): Promise<readonly Call[]> {
  const nothing = { get: () => undefined }
  const deps = { store, node: undefined, prices: nothing, profiles: nothing, clock: systemClock }
  const scenes = await store.read(findScenes)
  const options = { lang: 'en', format: 'bare', compat: 'none', numbers: 'string' } as const
  const calls = new Map<string, Call>()
  for (const action of lists)
    for (const example of examplesOf(action)) {
      const found = await chooseExample(
        deps,
        { action: { ...action, example }, scenes },
        { options, signal: new AbortController().signal },
      )
      if (found === undefined) continue
      const name = `${action.module} ${action.action} ${new URLSearchParams(found.params)}`
      calls.set(name, { action, params: found.params, name })
    }
  return [...calls.values()]
}

export async function ask(
  { ask, key }: Pick<Service, 'ask' | 'key'>,
  { action, params }: Call,
  more: Readonly<Record<string, string>>,
) {
  const query = new URLSearchParams({ module: action.module, action: action.action, ...params, ...more })
  return ask(`/api/?${query}`, { headers: { 'x-api-key': key } })
}

/** The rows of all pages, or of the single answer of a list without pages. */
export async function pagedRows(client: ServedClient, { action, params }: Call): Promise<readonly unknown[]> {
  const own = client[operationId(action)] as ClientAction
  const rowsOf = (answer: unknown) => Reflect.get(answer as object, action.list ?? '') as readonly unknown[]
  if (!('page' in action.params.properties)) return rowsOf(await own(params))
  return (await Array.fromAsync(own.pages({ ...params, size: 500 }))).flatMap(rowsOf)
}

export async function opened(service: Pick<Service, 'ask' | 'key'>, call: Call): Promise<Response> {
  const response = await ask(service, call, { format: 'ndjson', numbers: 'string' })
  expect(response.status).toBe(200)
  return response
}

/** The content of an export, and its height. */
export async function readToEnd(response: Response) {
  const lines = (await response.text())
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const { block_height, rows: count } = lines.pop()
  expect([response.headers.get('x-block-height'), count]).toEqual([block_height, lines.length])
  return { height: Number(block_height), rows: lines }
}
