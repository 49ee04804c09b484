import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import type { Published, Store, View } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import type { Action, Apart, Prices, Profiles } from './define.ts'
import { rawOf, wholeOf } from './list/paging.ts'
import { actions } from './registry.ts'
import type { Options } from './request/options.ts'
import type { Query } from './request/query.ts'
import { readParams } from './request/read.ts'
import { routeFor } from './request/route.ts'

/** What answering needs; built once by the caller. */
export type AnswerDeps = {
  readonly store: Store
  readonly node: Node | undefined
  readonly prices: Prices
  readonly profiles: Profiles
  readonly clock: Clock
}

/** Runs work on the store when it is its turn. */
export type Turn = <T>(work: (apart: Apart) => Promise<T>) => Promise<T>

const atOnce: Turn = work => work(ask => ask())

/** `data` is written with `writeJson`; `at` is the height it is true for. */
export type Answer = { readonly data: unknown; readonly at: Published }

/** A call of the interface: its parameters, and the options read from them. */
export type Call = { readonly query: Query; readonly options: Options }

/**
 * Answers one call of the interface. Throws Failure: 'bad_request' before the store is asked; then 'not_found',
 * 'loading', 'unavailable', 'deadline'.
 */
export const answer = async (
  deps: AnswerDeps,
  { query, options }: Call,
  { signal, turn = atOnce }: { readonly signal: AbortSignal; readonly turn?: Turn },
): Promise<Answer> => {
  const action = routeFor(query, actions)
  const lenient = options.compat === 'iostabc'
  const params = readParams(action.params, query, { unknown: lenient ? 'ignore' : 'refuse' })
  action.check?.(params)
  const { store, ...others } = deps
  const run = async (view: View, apart: Apart): Promise<Answer> => {
    const context = { ...others, view, compat: options.compat, signal, apart }
    try {
      return { data: await action.run(context, params), at: view.at }
    } catch (error) {
      if (lenient && error instanceof Failure && error.kind === 'not_found')
        return { data: nothingOf(action, params), at: view.at }
      throw error
    }
  }
  return turn(apart => store.read(view => run(view, apart), { signal }))
}

/** The old service's answer for unknown things: no fields, and no rows for lists. */
const nothingOf = ({ list }: Action, params: Readonly<Record<string, unknown>>): unknown => {
  if (list === undefined) return {}
  const { page, size } = params
  if (typeof page !== 'bigint' || typeof size !== 'number') return wholeOf(list, [])
  return { [list]: [], page: rawOf(page), size, total: 0 }
}
