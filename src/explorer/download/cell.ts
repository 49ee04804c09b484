import { visible } from '../format/visible.ts'

/** Characters with which a formula can begin in a spreadsheet, including full-width forms. */
const RUNS = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/**
 * A text of the chain as a spreadsheet cell that is shown and never evaluated. A text that would be a formula
 * gets a leading apostrophe, and invisible characters are escaped, as on pages.
 */
export const textCell = (text: string): string => (RUNS.test(text) ? `'${visible(text)}` : visible(text))
