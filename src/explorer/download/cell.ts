import { visible } from '../format/visible.ts'

/** Characters that spreadsheets take for the beginning of a formula, also in full width. */
const RUNS = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/**
 * A text of the chain as a cell of a spreadsheet, which shows it and never runs it: one that would be a formula begins with an
 * apostrophe, and what is not seen is written out, as on pages.
 */
export const textCell = (text: string): string => (RUNS.test(text) ? `'${visible(text)}` : visible(text))
