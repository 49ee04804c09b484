import type { ApiAction } from '#actions/define.ts'
import { chooseExample, findScenes } from '#actions/example/choose.ts'
import { actions } from '#actions/registry.ts'
import { listParameters } from '#actions/request/query.ts'
import { formatRoute, operationId } from '#http/openapi/action-operation.ts'
import type { Store } from '#store/port.ts'
import type { ClientAction, ServedClient } from '#test/support/processes/client.ts'
import type { Service } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { systemClock } from '#time/clock.ts'

/** Calls of every list of the registry that have rows, and the content of their pages and exports. */

export const lists = actions.filter(({ list }) => list !== undefined)

/** The parameters of an action's example, without its page; of lists that may be long their beginning, except in long runs. */
export function limitExample({ params, example: { page: _, size: __, ...example } }: ApiAction): ApiAction['example'] {
  return SOAK || !Object.hasOwn(params.properties, 'end_seq') ? example : { ...example, end_seq: '1500' }
}

export type Call = {
  readonly action: ApiAction
  readonly params: Readonly<Record<string, string>>
  readonly name: string
}

/**
 * The parameters of the action's example, then a call for each filter that the example omits, then a call in reverse
 * order, from a block where possible, so that it has new rows as well as old ones.
 */
function examplesOf(action: ApiAction): readonly ApiAction['example'][] {
  const { page: _, size: __, ...example } = action.example
  const all = listParameters(action.params)
  const filters = all.filter(
    ({ name, required, spec }) => !required && spec.sample !== undefined && !Object.hasOwn(example, name),
  )
  const sort = all.find(({ name }) => name === 'sort')?.spec
  const from = all.some(({ name }) => name === 'start_block') ? { start_block: '880' } : {}
  return [
    example,
    ...filters.map(({ name }) => ({ ...example, [name]: '' })),
    ...(sort?.values ?? [])
      .filter(value => value !== sort?.fallback)
      .map(value => ({ ...example, sort: value, ...from })),
  ]
}

/** The calls of every list that have rows in the stored chain. */
export async function callsOn(store: Store): Promise<readonly Call[]> {
  const nothing = { get: () => undefined }
  const deps = { store, node: undefined, prices: nothing, profiles: nothing, clock: systemClock }
  const scenes = await store.read(findScenes)
  const options = { lang: 'en', format: 'bare', compat: 'none', numbers: 'string' } as const
  const way = { options, signal: new AbortController().signal }
  const calls = new Map<string, Call>()
  for (const action of lists)
    for (const example of examplesOf(action)) {
      const found = await chooseExample(deps, { action: { ...action, example }, scenes }, way)
      if (found === undefined) continue
      const name = `${action.module} ${action.action} ${new URLSearchParams(found.params)}`
      calls.set(name, { action, params: found.params, name })
    }
  return [...calls.values()]
}

/** One call of each list. */
export async function chooseCalls(store: Store): Promise<readonly Call[]> {
  const all = await callsOn(store)
  return lists.flatMap(action => all.find(call => call.action === action) ?? [])
}

export function openExport(
  { get }: Pick<Service, 'get'>,
  { action, params }: Call,
  { format = 'ndjson', key }: { readonly format?: string; readonly key?: string | undefined } = {},
): Promise<Response> {
  const query = new URLSearchParams({ ...params, format, numbers: 'string' })
  return get(`${formatRoute(action)}?${query}`, key === undefined ? {} : { 'x-api-key': key })
}

/** The rows of all pages, or of the single answer of a list without pages. */
export async function pagedRows(client: ServedClient, { action, params }: Call): Promise<readonly unknown[]> {
  const own = client[operationId(action)] as ClientAction
  const rowsOf = (answer: unknown) => Reflect.get(answer as object, action.list ?? '') as readonly unknown[]
  if (!('page' in action.params.properties)) return rowsOf(await own(params))
  return (await Array.fromAsync(own.pages({ ...params, size: 500 }))).flatMap(rowsOf)
}
