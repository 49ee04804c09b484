import { defineIndex, int, text } from './define.ts'

/**
 * Movements of a token on a UTC day, by the times of its blocks. Only days with movements have a document.
 * Id: `tokenDayId`. Amounts issued and destroyed are in the token's supply series.
 */
export const tokenDays = defineIndex({
  name: 'token-days',
  kind: 'state',
  fields: {
    /** Number of transfer and transferFreeze rows. */
    transfers: int(),
    /**
     * Amount moved by these rows, in the token's smallest unit. Stored as text because more can move in a day
     * than exists.
     */
    volume: text(),
  },
})

/** @param date the id of the day, `2026-11-21` */
export const tokenDayId = (token: string, date: string): string => `${token}/${date}`
