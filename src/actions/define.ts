import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { FailureKind } from '#failure/failure.ts'
import type { HeadAt } from '#head/head-state.ts'
import type { StateIndex } from '#indices/registry.ts'
import type { Node } from '#node/port.ts'
import type { View } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import type { DayEndCache, RankingCache } from './find/caches.ts'
import type { Listing } from './find/listing.ts'
import type { SearchListing } from './list/searched.ts'

export type Text = { readonly en: string; readonly zh: string }

/** `iostabc`: answers in the form that clients of the old service expect. */
export type Compat = 'none' | 'iostabc'

/**
 * Waits for a node outside the store's queue, so that requests to the store are not delayed. Throws
 * 'unavailable' when too many requests wait for nodes.
 */
export type NodeWait = <T>(work: () => Promise<T>) => Promise<T>

/** What a caller may have done for one answer beyond a page of rows. */
export type LongWork = {
  /**
   * Does the work with a permit of its queue, one at a time for pages and one for whole lists, outside the store's
   * queue. Throws
   * 'unavailable' when too many requests wait.
   */
  readonly enqueue: <T>(work: () => Promise<T>, isWhole: boolean) => Promise<T>
  /** Most rows that are read for the caller; undefined: any number. */
  readonly mostRows: number | undefined
  /** Throws 'rate_limited' when the plan has fewer requests left today. */
  readonly require: (requests: number) => void
  /** Counts one more request as soon as the plan allows it. */
  readonly more: () => Promise<void>
}

export type Context = {
  readonly view: View
  /** Client for the chain above the last irreversible block; undefined: the service follows no node. */
  readonly node: Node | undefined
  /** The followed branch above the height of the answer, for lookups of single blocks and transactions. */
  readonly branch: HeadAt
  /** The same branch when the call asks for its rows in lists (`head=1`); absent: it does not. */
  readonly head?: HeadAt
  readonly prices: Prices
  /** Absent: no price history is configured. */
  readonly priceHistory?: PriceHistory | undefined
  readonly profiles: Profiles
  readonly compat: Compat
  /** Set for an export of all rows, whose work has no limit. */
  readonly isWhole?: true
  /** Set for a call that only checks whether the request is refused: long work is skipped. */
  readonly isDryRun?: true
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Cache of rankings of the past; absent: they are not cached. */
  readonly rankings?: RankingCache | undefined
  /** Cache of the last blocks of days; absent: they are not cached. */
  readonly dayEnds?: DayEndCache | undefined
  /** Work limit for a page of a ranking of the past, ms; absent: no limit. */
  readonly rankingMs?: number | undefined
  /** The caller's limits of rankings of the past; absent: none. */
  readonly longWork?: LongWork | undefined
  /**
   * Extends the deadline of the answer by this time, ms; undefined: without limit. Call the returned function
   * when the long work is done; the rest then has the usual time. Absent: there is no deadline.
   */
  readonly prolong?: ((ms: number | undefined) => () => void) | undefined
  /** Must be used for every wait for a node. */
  readonly waitForNode: NodeWait
  /**
   * Used for the last wait of an answer, when it needs no more data from the store. The view is released
   * before: only its height may still be used. Many more requests may wait this way.
   */
  readonly waitAfterRead: NodeWait
}

/** Market figures from the operator's file or URL; undefined: none. Figures are never invented. */
export type Prices = {
  get(): { readonly usd: string; readonly cny: string; readonly rank: number; readonly time: string } | undefined
}

/** Prices of IOST by UTC day from the operator's file; undefined: there is no file. Prices are never invented. */
export type PriceHistory = {
  get(): { readonly currency: string; readonly byDay: ReadonlyMap<string, string> } | undefined
}

/** Producer texts from the operator's profile file; undefined: none for this producer. */
export type Profiles = { get(producer: string): Profile | undefined }
export type Profile = {
  readonly alias: string
  readonly alias_en: string
  readonly description: string
  readonly description_en: string
  readonly logo: string
  readonly statement: string
  readonly statement_en: string
  readonly type: string
  readonly type_en: string
  readonly social_media: Readonly<Record<string, string>>
}

/**
 * Failures that depend on the query. `not_found`: a thing that it names does not exist. `loading`: that
 * thing, or a part of the range, may not be loaded yet. `bad_block`: a node returned bad data for something
 * that is not stored. `replaced`: the query continues after a row of a block that may be replaced.
 */
type OwnFailure = Extract<FailureKind, 'not_found' | 'loading' | 'bad_block' | 'replaced'>

export type ListSource<P = Readonly<Record<string, unknown>>, D = unknown> = {
  /** Indices of state that the list is read from; empty: its rows are history, which never changes. */
  readonly state: readonly StateIndex[]
  /** Whether the list is offered as a feed; its listings then have `followed`. */
  readonly isFeed?: true
  /** Whether the call filters rows by searching for them; absent: never. */
  readonly isSearched?: (params: P) => boolean
  /** The rows of one list, or a search for rows. Throws Failure ('not_found', 'loading' …). */
  readonly open: (context: Context, params: P) => Promise<Listing<D> | SearchListing>
}

/** One query of the interface: its parameters, its result, its documentation and its implementation. */
export type ApiAction<P extends TObject = TObject, R extends TSchema = TSchema> = {
  readonly module: string
  readonly action: string
  /**
   * Unique name over all modules, if another module has an action of the same name (`formatActionName`); absent:
   * `action`.
   */
  readonly name?: string
  readonly title: Text
  /** The contract with callers: order, paging, units, the meaning of absent fields. Published in the reference. */
  readonly summary: Text
  /**
   * Parameters after parsing. Every property is made by `word` (`request/parameter-types.ts`), which includes
   * its parser.
   */
  readonly params: P
  /** Checks rules that concern several parameters, before the store is read. Throws Failure 'bad_request'. */
  readonly check?: (params: Static<P>) => void
  /** Shape of `data` as JSON with `numbers=number`. */
  readonly result: R
  /** The shape with `compat=iostabc`; absent: the same. */
  readonly compatResult?: TSchema
  /** The property that holds the rows of a list action; absent: not a list. */
  readonly list?: string
  /** How the list is read if it has pages. Absent while `list` is set: the answer has all rows. */
  readonly source?: ListSource
  /** The value of `data`, with `Exact` where digits must be kept. Throws Failure ('not_found', 'bad_request' …). */
  readonly run: (context: Context, params: Static<P>) => Promise<unknown>
  /**
   * Answers depend only on the parameters, the content of the store, and whether the load is far behind: not
   * on a node, the clock, or the operator's files. Equal calls then share an answer. Absent also where a ranking of
   * the past is read, which has a cache of its own: an equal call would hold its permit while it waits.
   */
  readonly isOfStore?: true
  /** Its own failures, in addition to those of every query. */
  readonly fails: readonly OwnFailure[]
  /** Parameters of a call that has an answer on the recorded chain, for the reference and the smoke test. */
  readonly example: Readonly<Record<string, string>>
}

/** Unique name of an action over all modules: of its file, its page in the reference and its operation. */
export const formatActionName = ({ name, action }: Pick<ApiAction, 'name' | 'action'>): string => name ?? action

/** An action with the type of its answer in the form of `numbers=string` (used by `ask.ts`). */
export type Typed<A = unknown> = ApiAction & {
  /** Never set: it only carries the type. */
  readonly answer?: A
}

/** Declares an action; its `run` is typed by its parameters. */
export const defineAction = <P extends TObject, R extends TSchema>(action: ApiAction<P, R>): Typed<Static<R>> =>
  // The registry has actions of all parameter types. `answer` passes each action the values that its own
  // parameters parsed.
  action as unknown as Typed<Static<R>>
