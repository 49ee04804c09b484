import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { FailureKind } from '#failure/failure.ts'
import type { HeadAt } from '#head/shown.ts'
import type { StateIndex } from '#indices/registry.ts'
import type { Node } from '#node/port.ts'
import type { View } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import type { KeptDayEnds } from './find/kept-day-ends.ts'
import type { KeptRankings } from './find/kept-rankings.ts'
import type { Listing } from './list/list-rows.ts'
import type { Searched } from './list/searched.ts'
import type { Text } from './text.ts'

/** `iostabc`: answers as programs written against the old service expect them. */
export type Compat = 'none' | 'iostabc'

/**
 * Waits for a node outside the queue of the store, so that other requests do not wait for it too. Throws 'unavailable'
 * when too many requests wait for nodes.
 */
export type Apart = <T>(ask: () => Promise<T>) => Promise<T>

/** What an action works with. */
export type Context = {
  readonly view: View
  /** The chain above the last irreversible block, when the service follows a node. */
  readonly node: Node | undefined
  /** The branch above the height of the answer that is followed, for what is asked for by its name. */
  readonly branch: HeadAt
  /** The same where the call asks for its rows in lists (`head=1`). */
  readonly head?: HeadAt
  readonly prices: Prices
  /** Absent: none are known. */
  readonly priceHistory?: PriceHistory | undefined
  readonly profiles: Profiles
  readonly compat: Compat
  /** All rows are asked for, as an export: the work for it has no limit. */
  readonly isWhole?: true
  /** The call is made only to see whether it is refused: work that takes long is left out. */
  readonly isLook?: true
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Absent: none are kept. */
  readonly rankings?: KeptRankings | undefined
  /** Likewise. */
  readonly dayEnds?: KeptDayEnds | undefined
  /** Work for a page of a ranking of the past, ms; absent: as much as it takes. */
  readonly rankingMs?: number | undefined
  /**
   * Extends the deadline of the answer by this time, ms; undefined: as much as it takes. What it gives back is called when
   * that was used: the rest has the usual time. Absent: there is no deadline.
   */
  readonly prolong?: ((ms: number | undefined) => () => void) | undefined
  /** Every wait for a node goes through it. */
  readonly apart: Apart
  /**
   * The same for the last wait of an answer, which needs nothing of the store any more: the view is given back, and may not
   * be used afterwards but for its height. Many more may wait so.
   */
  readonly lastly: Apart
}

/** Market figures from the operator's file or URL; undefined: none, and none is invented. */
export type Prices = {
  get():
    | { readonly usd: string; readonly cny: string; readonly rank: number; readonly time: string }
    | undefined
}

/** Prices of IOST by UTC day from the operator's file; undefined: no file, and no price is invented. */
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
 * Failures that depend on the query: `not_found` where it names a thing that must exist, `loading` where that thing or a
 * part of the range may not be loaded yet, `bad_block` where a node is asked for what is not stored, `replaced` where it
 * goes on from a row of a block that may be replaced.
 */
export type OwnFailure = Extract<FailureKind, 'not_found' | 'loading' | 'bad_block' | 'replaced'>

/** How an action finds its list. */
export type ListSource<P = Readonly<Record<string, unknown>>, D = unknown> = {
  /** The indices of state that it is read from; none: its rows are history, which never changes. */
  readonly state: readonly StateIndex[]
  /** Whether the list is offered as a feed; its listings then say what is followed. */
  readonly isFeed?: true
  /** Whether the rows of a call are searched for; absent: never. */
  readonly isSearched?: (params: P) => boolean
  /** Rows of one list, or those that are searched for. Throws Failure ('not_found', 'loading' …). */
  readonly open: (context: Context, params: P) => Promise<Listing<D> | Searched>
}

/** One query of the interface: what it takes, what it gives, what it promises, how it answers. */
export type Action<P extends TObject = TObject, R extends TSchema = TSchema> = {
  readonly module: string
  readonly action: string
  /** Its name over all modules, where another module has an action of the same name (`nameOf`); absent: `action`. */
  readonly name?: string
  readonly title: Text
  /** Its promise: order, paging, units, the meaning of absent fields. Becomes the reference. */
  readonly summary: Text
  /** Parameters after reading; every property is made by `word` (`request/parameter-types.ts`), which knows how to read it from text. */
  readonly params: P
  /** Checks rules that concern several parameters. Throws Failure 'bad_request', before the store is asked. */
  readonly check?: (params: Static<P>) => void
  /** Shape of `data` as JSON with `numbers=number`. */
  readonly result: R
  /** The same with `compat=iostabc`; absent: the same shape. */
  readonly compatResult?: TSchema
  /** The property that holds the rows of a list action; absent: not a list. */
  readonly list?: string
  /** How its list is read, if it has pages; absent with `list`: the answer has all rows. */
  readonly source?: ListSource
  /** Data for `data`; `Exact` values where digits must survive. Throws Failure ('not_found', 'bad_request' …). */
  readonly run: (context: Context, params: Static<P>) => Promise<unknown>
  /**
   * Its answers depend on nothing but its parameters, what the store shows, and whether the load is far behind: not on a
   * node, the clock, or the operator's files. Equal calls then share an answer.
   */
  readonly isOfStore?: true
  /** Its last step may be to ask a node (`lastly`): the view of the store is given back before. */
  readonly endsAtNode?: true
  /** Failures of its own, beside those that every query may have. */
  readonly fails: readonly OwnFailure[]
  /** Parameters of a call that works on the recorded chain, for the reference and the smoke test. */
  readonly example: Readonly<Record<string, string>>
}

/** Name of an action over all modules: of its file, its place in the reference and its operation. */
export const nameOf = ({ name, action }: Pick<Action, 'name' | 'action'>): string => name ?? action

/** An action whose answer, as `numbers=string` writes it, is known by its type where it is asked (`ask.ts`). */
export type Typed<A = unknown> = Action & {
  /** Never there: only its type says something. */
  readonly answer?: A
}

/** Declares an action; its `run` is typed by its parameters. */
export const defineAction = <P extends TObject, R extends TSchema>(action: Action<P, R>): Typed<Static<R>> =>
  // The registry has actions of all parameter types; `answer` gives each the values that its own parameters have
  // read.
  action as unknown as Typed<Static<R>>
