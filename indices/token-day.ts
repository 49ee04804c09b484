import { defineIndex } from './define.ts'
import { int, text } from './fields.ts'

/**
 * What was moved of a token on a UTC day, by the times of its blocks; only days on which some of it was moved have a document. Id:
 * `tokenDayId`. What was issued and destroyed is in the token's series.
 */
export const tokenDays = defineIndex({
  name: 'token-days',
  kind: 'state',
  fields: {
    /** Rows of transfer and transferFreeze. */
    transfers: int(),
    /** What they moved, in the token's smallest unit, as text: in a day more may be moved than exists. */
    volume: text(),
  },
})

/** @param date the id of the day, `2026-11-21` */
export const tokenDayId = (token: string, date: string): string => `${token}/${date}`
