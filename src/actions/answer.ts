import { writeJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { HeadSource } from '#head/head-state.ts'
import { type HeadAt, NO_HEAD, selectHead } from '#head/head-state.ts'
import type { Node } from '#node/port.ts'
import type { Published, Store, View } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import type { AnswerCache } from './answer-cache.ts'
import {
  type ApiAction,
  type Context,
  formatActionName,
  type NodeWait,
  type PriceHistory,
  type Prices,
  type Profiles,
} from './define.ts'
import type { DayEndCache } from './find/day-end-cache.ts'
import { isCatchingUp } from './find/loading.ts'
import type { RankingCache } from './find/ranking-cache.ts'
import { buildWholeList, findPaged, type Paged, toRawPage } from './list/paging.ts'
import { actions } from './registry.ts'
import { checkCsv } from './request/csv.ts'
import type { Options } from './request/options.ts'
import { type Query, readParams, requireAction, takes } from './request/query.ts'

/** Dependencies of `answer`; built once by the caller. */
export type AnswerDeps = {
  readonly store: Store
  readonly node: Node | undefined
  /** The blocks above the published one; undefined: the service follows none. */
  readonly head?: HeadSource | undefined
  readonly prices: Prices
  readonly priceHistory?: PriceHistory | undefined
  readonly profiles: Profiles
  readonly clock: Clock
  /** Cache of rankings of the past; absent: they are not cached. */
  readonly rankings?: RankingCache | undefined
  /** Cache of the last blocks of days; absent: they are searched for each time. */
  readonly dayEnds?: DayEndCache | undefined
  /** Work limit for a page of a ranking that is not cached, ms; absent: no limit. */
  readonly rankingMs?: number | undefined
}

/** A slot among the requests in progress. */
export type Permit = Waits & {
  /** Releases the slot to the next request. Further calls have no effect. */
  leave(): void
}

/** All of them release the slot to the next request, and wait in separate queues. */
type Waits = Pick<Context, 'waitForNode' | 'waitAfterRead' | 'longWork'>

/** Waits for a slot. Throws 'unavailable' when too many requests wait or the wait is too long. */
export type AcquirePermit = () => Promise<Permit>

const FREE: Permit = { waitForNode: work => work(), waitAfterRead: work => work(), leave: () => undefined }

/** For work that does not queue. */
export const acquireFreely: AcquirePermit = async () => FREE

/** Holds a slot for the time of `work`. */
export async function holdPermit<T>(acquire: AcquirePermit, work: (place: Permit) => Promise<T>): Promise<T> {
  const place = await acquire()
  try {
    return await work(place)
  } finally {
    place.leave()
  }
}

/** The data of an answer, written with `writeJson`, and the height that it reflects. */
export type Answer = {
  readonly data: unknown
  readonly at: Published
  /** The page of a list; undefined: the answer is not a list, or is a whole one. */
  readonly paged: Paged | undefined
  /** The blocks above the height when the answer was made; undefined: the call did not ask for them. */
  readonly head: Pick<HeadAt, 'status' | 'height'> | undefined
  /** Whether the action reads a parameter of this name. */
  readonly takes: (name: string) => boolean
}

/** A call of the interface: its parameters, and the options read from them. */
export type ApiCall = { readonly query: Query; readonly options: Options }

type CallContext = Pick<Context, 'signal' | 'prolong'> & { readonly acquire?: AcquirePermit }

/**
 * Answers one call of the interface. Throws Failure: 'bad_request' before the store is read; then
 * 'not_found', 'loading', 'unavailable', 'deadline'.
 */
export async function answer(
  deps: AnswerDeps,
  call: ApiCall,
  { acquire = acquireFreely, ...limits }: CallContext,
): Promise<Answer> {
  const request = { ...readCall(call), options: call.options, limits }
  const { signal } = limits
  const place = await acquire()
  try {
    return await deps.store.read(view => run(deps, request, { view, waits: place }), { signal })
  } finally {
    place.leave()
  }
}

/** An answer with its body as text. */
export type WrittenAnswer = Omit<Answer, 'data'> & { readonly text: string }

/** Like `answer`, but equal calls share an answer while the content of the store is the same. */
export async function sharedAnswer(
  deps: AnswerDeps & { readonly cache: AnswerCache<WrittenAnswer> },
  call: ApiCall,
  { acquire = acquireFreely, ...limits }: CallContext,
): Promise<Answer | WrittenAnswer> {
  const request = { ...readCall(call), options: call.options, limits }
  const { signal } = limits
  // The blocks above belong to a branch, and change more often than equal calls repeat.
  if (request.action.isOfStore !== true || request.params['head'] === 1)
    return answer(deps, call, { ...limits, acquire })
  const place = await acquire()
  const lookup = deps.cache.begin()
  try {
    const found = await deps.store.read(
      async view => {
        const key =
          view.edition === undefined ? undefined : formatAnswerKey(request, isCatchingUp({ view, node: deps.node }))
        const known = await lookup.find(view.edition, key, signal)
        return known ?? written(await run(deps, request, { view, waits: place }), call.options)
      },
      { signal },
    )
    lookup.put(found)
    return found
  } finally {
    lookup.end()
    place.leave()
  }
}

/** The body of a success: `data` in its envelope, or bare. */
export function successText(data: unknown, { format, numbers }: Pick<Options, 'format' | 'numbers'>): string {
  const text = writeJson(data, { numbers })
  return format === 'bare' ? text : `{"code":0,"message":"OK","data":${text}}`
}

const written = ({ data, ...rest }: Answer, options: Options): WrittenAnswer => ({
  ...rest,
  text: successText(data, options),
})

type AnswerRequest = ReturnType<typeof readCall> & {
  readonly options: Options
  readonly limits: Omit<CallContext, 'acquire'>
}

/** The inputs of an answer from the store, other than the content of the store itself. */
const formatAnswerKey = ({ action, params, options }: AnswerRequest, isBehind: boolean): string =>
  JSON.stringify([action.module, formatActionName(action), params, options, isBehind], (_name, value) =>
    typeof value === 'bigint' ? `${value}n` : value,
  )

async function run(
  deps: AnswerDeps,
  { action, params, options, limits }: AnswerRequest,
  { view, waits }: { readonly view: View; readonly waits: Waits },
): Promise<Answer> {
  const { compat } = options
  const { waitForNode, longWork } = waits
  const waitAfterRead: NodeWait = work => {
    view.release()
    return waits.waitAfterRead(work)
  }
  const context = createContext(deps, { view, params, compat, waitForNode, waitAfterRead, longWork, ...limits })
  const takesName = (name: string): boolean => takes(action.params, name)
  const { head } = context
  try {
    const data = await action.run(context, params)
    const paged = action.list === undefined ? undefined : findPaged(params, data)
    return { data, at: view.at, head, paged, takes: takesName }
  } catch (error) {
    if (compat !== 'iostabc' || !(error instanceof Failure) || error.kind !== 'not_found') throw error
    const data = createEmptyAnswer(action, params)
    return { data, at: view.at, head, paged: findPaged(params, data), takes: takesName }
  }
}

/** The context in which an action answers a call with these parameters. */
export function createContext(
  { store: _, head: source, ...deps }: AnswerDeps,
  call: Pick<Context, 'view' | 'compat' | 'signal' | 'prolong' | 'waitForNode' | 'longWork'> & {
    /** Absent: the view is needed to the end. */
    readonly waitAfterRead?: NodeWait
    readonly params: Readonly<Record<string, unknown>>
  },
): Context {
  const { params, view, waitAfterRead = call.waitForNode, ...others } = call
  const branch = source === undefined ? NO_HEAD : selectHead(source.current(), view.at)
  const head = params['head'] === 1 ? { head: branch } : undefined
  return { ...deps, branch, ...head, view, waitAfterRead, ...others }
}

/** The action of a call and its parameters. Throws 'bad_request'. */
export function readCall({ query, options }: ApiCall) {
  const action = requireAction(query, actions)
  const params = readParams(action.params, query, {
    unknown: options.compat === 'iostabc' ? 'ignore' : 'refuse',
  })
  action.check?.(params)
  if (params['csv'] !== undefined) checkCsv(params['csv'], options)
  return { action, params }
}

/** The old service's answer for unknown things: no fields, and no rows for lists. */
function createEmptyAnswer({ list }: ApiAction, params: Readonly<Record<string, unknown>>): unknown {
  if (list === undefined) return {}
  const { page, size } = params
  if (typeof page !== 'bigint' || typeof size !== 'number') return buildWholeList(list, [])
  return { [list]: [], page: toRawPage(page), size, total: 0 }
}
