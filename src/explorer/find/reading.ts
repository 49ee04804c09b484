import type { AnswerOf } from '#actions/ask.ts'
import type { search } from '#actions/search.ts'

/** A row of search. */
export type Match = AnswerOf<typeof search>['matches'][number]

export type Kind = Match['type']

/** One interpretation of a text: the text to search for, and the kind of thing that it names; absent: any kind. */
export type Reading = { readonly text: string; readonly kind?: Kind }
