import { writeJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { type HeadAt, type HeadSource, NO_HEAD, selectHead } from '#head/head-state.ts'
import type { Node } from '#node/port.ts'
import { boundedCache } from '#store/bounded-cache.ts'
import type { Published, Store, View } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { awaitLimited } from '#time/deadline.ts'
import {
  type ApiAction,
  type Context,
  formatActionName,
  type NodeWait,
  type PriceHistory,
  type Prices,
  type Profiles,
} from './define.ts'
import type { DayEndCache, RankingCache } from './find/caches.ts'
import { isCatchingUp } from './find/loading.ts'
import { buildWholeList, findPaged, type Paged, toRawPage } from './list/paging.ts'
import { actions } from './registry.ts'
import { checkCsv, type Options } from './request/options.ts'
import { getParameterReaders, type Query, readParams, requireAction } from './request/query.ts'
import { hasPoint } from './request/range.ts'

/** Source of an answer: a read of the store, an equal call in progress, or the cache. */
export const ANSWER_SOURCES = ['store', 'joined', 'kept'] as const
type AnswerSource = (typeof ANSWER_SOURCES)[number]

/**
 * Cache of answers that equal calls share while the content of the store is the same. Only answers of
 * completed reads are cached or shared: until its end a read may restart, or find that data is lost. The
 * oldest answer is evicted first.
 */
export type AnswerCache<A> = { begin(): AnswerLookup<A> }

type AnswerLookup<A> = {
  /**
   * The answer for a content of the store and a key, from the cache or from an equal call in progress;
   * undefined: this call must read it. `edition`: that of the view; undefined: the content cannot be
   * identified. `key`: a text of all other inputs of the answer. `signal` ends the wait for an equal call.
   */
  find(edition: object | undefined, key: string | undefined, signal?: AbortSignal | undefined): Promise<A | undefined>
  put(answer: A): void
  /** Must be called when the call is over. If it has no answer, calls that waited for it read the store themselves. */
  end(): void
}

export function createAnswerCache<A extends { readonly text: string }>({
  maxCharacters,
  onAnswer,
}: {
  readonly maxCharacters: number
  readonly onAnswer: (source: AnswerSource) => void
}): AnswerCache<A> {
  const kept = boundedCache<A>(maxCharacters)
  const running = new Map<string, Promise<A | undefined>>()
  const nameOf = editionNames()
  return {
    begin: () => {
      const done = Promise.withResolvers<A | undefined>()
      /**
       * The only name under which other calls may wait for this one. A call that waits has none, so two calls
       * never wait for each other.
       */
      let own: string | undefined
      let name: string | undefined
      let source: AnswerSource = 'store'
      const there = async (name: string, signal: AbortSignal | undefined): Promise<A | undefined> => {
        const known = kept.get(name)?.value
        if (known !== undefined) source = 'kept'
        if (known !== undefined || own !== undefined) return known
        const other = running.get(name)
        if (other === undefined) {
          own = name
          running.set(name, done.promise)
          return undefined
        }
        const answer = await awaitLimited(other, { signal })
        if (answer !== undefined) source = 'joined'
        return answer
      }
      return {
        find: async (edition, key, signal) => {
          source = 'store'
          name = edition === undefined ? undefined : `${nameOf(edition)} ${key}`
          const answer = name === undefined ? undefined : await there(name, signal)
          if (answer !== undefined) name = undefined
          return answer
        },
        put: answer => {
          if (name !== undefined) kept.put(name, answer, name.length + answer.text.length)
          done.resolve(answer)
          onAnswer(source)
        },
        end: () => {
          done.resolve(undefined)
          if (own !== undefined) running.delete(own)
        },
      }
    },
  }
}

/** A short, unique name for each edition. */
function editionNames() {
  const names = new WeakMap<object, number>()
  let last = 0
  return (edition: object): number => {
    const name = names.get(edition) ?? ++last
    names.set(edition, name)
    return name
  }
}

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

/** A permit among the requests in progress. */
export type Permit = Waits & {
  /** Releases the permit to the next request. Further calls have no effect. */
  leave(): void
}

/** All of them release the permit to the next request, and wait in separate queues. */
type Waits = Pick<Context, 'waitForNode' | 'waitAfterRead' | 'longWork'>

/** Waits for a permit. Throws 'unavailable' when too many requests wait or the wait is too long. */
export type AcquirePermit = () => Promise<Permit>

const FREE: Permit = { waitForNode: work => work(), waitAfterRead: work => work(), leave: () => undefined }

/** For work that does not queue. */
export const acquireFreely: AcquirePermit = async () => FREE

export async function holdPermit<P extends Pick<Permit, 'leave'>, T>(
  acquire: () => Promise<P>,
  work: (permit: P) => Promise<T>,
): Promise<T> {
  const permit = await acquire()
  try {
    return await work(permit)
  } finally {
    permit.leave()
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
  /** The names that a call of the action may have. */
  readonly taken: ReadonlySet<string>
}

/** A call of the interface: its parameters, and the options read from them. */
export type ApiCall = { readonly query: Query; readonly options: Options }

type CallContext = Pick<Context, 'signal' | 'prolong'> & { readonly acquire?: AcquirePermit }

/**
 * Answers one call of the interface. Throws Failure: 'bad_request' (most before the store is read), 'not_found',
 * 'loading', 'replaced', 'forbidden', 'rate_limited', 'unavailable', 'damaged', 'deadline'.
 */
export async function answer(
  deps: AnswerDeps,
  call: ApiCall,
  { acquire = acquireFreely, ...limits }: CallContext,
): Promise<Answer> {
  const request = { ...readCall(call), options: call.options, limits }
  const permit = await acquire()
  try {
    return await deps.store.read(view => run(deps, request, { view, waits: permit }), { signal: limits.signal })
  } finally {
    permit.leave()
  }
}

export type WrittenAnswer = Omit<Answer, 'data'> & { readonly text: string }

/** Like `answer`, but equal calls share an answer while the content of the store is the same. */
export async function shareAnswer(
  deps: AnswerDeps & { readonly cache: AnswerCache<WrittenAnswer> },
  call: ApiCall,
  { acquire = acquireFreely, ...limits }: CallContext,
): Promise<Answer | WrittenAnswer> {
  const request = { ...readCall(call), options: call.options, limits }
  const { signal } = limits
  // The blocks above belong to a branch, and change more often than equal calls repeat. Rankings of the past have a cache
  // of their own: a call that waited for an equal one here would hold its permit and its view meanwhile.
  if (request.action.isOfStore !== true || request.params['head'] === 1 || hasPoint(request.params))
    return answer(deps, call, { ...limits, acquire })
  const permit = await acquire()
  const lookup = deps.cache.begin()
  try {
    const found = await deps.store.read(
      async view => {
        const key =
          view.edition === undefined ? undefined : formatAnswerKey(request, isCatchingUp({ view, node: deps.node }))
        const known = await lookup.find(view.edition, key, signal)
        return known ?? writeAnswer(await run(deps, request, { view, waits: permit }), call.options)
      },
      { signal },
    )
    lookup.put(found)
    return found
  } finally {
    lookup.end()
    permit.leave()
  }
}

/** The body of a success: `data` in its envelope, or bare. */
export function successText(data: unknown, { format, numbers }: Pick<Options, 'format' | 'numbers'>): string {
  const text = writeJson(data, { numbers })
  return format === 'bare' ? text : `{"code":0,"message":"OK","data":${text}}`
}

const writeAnswer = ({ data, ...rest }: Answer, options: Options): WrittenAnswer => ({
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
  const { taken } = getParameterReaders(action.params)
  const { head } = context
  try {
    const data = await action.run(context, params)
    const paged = action.list === undefined ? undefined : findPaged(params, data)
    return { data, at: view.at, head, paged, taken }
  } catch (error) {
    if (compat !== 'iostabc' || !(error instanceof Failure) || error.kind !== 'not_found') throw error
    const data = createEmptyAnswer(action, params)
    return { data, at: view.at, head, paged: findPaged(params, data), taken }
  }
}

/** The context in which an action answers a call with these parameters. */
export function createContext(
  { store: _, head: source, ...deps }: AnswerDeps,
  call: Pick<
    Context,
    'view' | 'compat' | 'isWhole' | 'isDryRun' | 'signal' | 'prolong' | 'waitForNode' | 'longWork'
  > & {
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
