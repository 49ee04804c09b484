import type { ApiAction } from '#actions/define.ts'
import type { FEED_FORMAT, Options } from '#actions/request/options.ts'

/** A part of the document. */
export type Json = Readonly<Record<string, unknown>>

/**
 * Options that change the form of answers, export a list, or open a feed. A document describes the answers of
 * one such choice.
 */
export type Form = Pick<Options, 'format' | 'compat' | 'numbers'> & {
  readonly export?: NonNullable<Options['export']> | typeof FEED_FORMAT
}
export const FORM_NAMES = ['format', 'compat', 'numbers'] as const satisfies readonly (keyof Form)[]

/** The choices for which a document is written. */
export type Described = {
  readonly version: string
  /** The form of answers to a request without form options. */
  readonly defaults: Form
  /** The choices of the document's reader: constant, required parameters of every operation. */
  readonly chosen: Partial<Form>
  /**
   * Calls that have an answer on the served chain. An action without one has no examples. Absent: the
   * actions' own examples.
   */
  readonly examples?: ReadonlyMap<ApiAction, { readonly params: Readonly<Record<string, string>> }>
}

/** Parameters of a call for which the action has an answer. */
export const getExample = ({ examples }: Described, action: ApiAction): Readonly<Record<string, string>> =>
  examples === undefined ? action.example : (examples.get(action)?.params ?? {})

/** Names and values of the parameters that a reader of the document sends. */
export const chosenParameters = ({
  export: exported,
  ...chosen
}: Partial<Form>): Partial<Record<(typeof FORM_NAMES)[number], string>> =>
  exported === undefined ? chosen : { ...chosen, format: exported }

export const mergeForm = ({ defaults, chosen }: Described): Form => ({ ...defaults, ...chosen })
