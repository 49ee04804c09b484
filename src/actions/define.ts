import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { Node } from '#node/port.ts'
import type { View } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'

/** A text in the two languages of the service. */
export type Text = { readonly en: string; readonly zh: string }

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
  readonly prices: Prices
  readonly profiles: Profiles
  readonly compat: Compat
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Every wait for a node goes through it. */
  readonly apart: Apart
}

/** Market figures from the operator's file or URL; undefined: none, and none is invented. */
export type Prices = {
  get():
    | { readonly usd: string; readonly cny: string; readonly rank: number; readonly time: string }
    | undefined
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

/** One query of the interface: what it takes, what it gives, what it promises, how it answers. */
export type Action<P extends TObject = TObject, R extends TSchema = TSchema> = {
  readonly module: string
  readonly action: string
  readonly title: Text
  /** Its promise: order, paging, units, the meaning of absent fields. Becomes the reference. */
  readonly summary: Text
  /** Parameters after reading; every property is made by `word` (`request/parameter-types.ts`), which knows how to read it from text. */
  readonly params: P
  /** Checks rules that concern several parameters. Throws Failure 'bad_request', before the store is asked. */
  readonly check?: (params: Static<P>) => void
  /** Shape of `data` as JSON with `numbers=number`. */
  readonly result: R
  /** The property that holds the rows of a list action; absent: not a list. */
  readonly list?: string
  /** Data for `data`; `Exact` values where digits must survive. Throws Failure ('not_found', 'bad_request' …). */
  readonly run: (context: Context, params: Static<P>) => Promise<unknown>
  /** Parameters of a call that works on the recorded chain, for the reference and the smoke test. */
  readonly example: Readonly<Record<string, string>>
}

/** Declares an action; its `run` is typed by its parameters. */
export const defineAction = <P extends TObject, R extends TSchema>(action: Action<P, R>): Action =>
  // The registry has actions of all parameter types; `answer` gives each the values that its own parameters have
  // read.
  action as unknown as Action
