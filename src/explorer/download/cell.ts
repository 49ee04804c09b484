import { visible } from '../format/visible.ts'

/** Characters with which a formula can begin in a spreadsheet, including full-width forms. */
const SIGNS = '=+\\-@\uff1d\uff0b\uff0d\uff20'
const RUNS = new RegExp(`^[${SIGNS}\\t\\r\\n]`)
/** Where a cell begins for a program that divides the file at another sign: Excel at `;` in most of Europe. */
const RUNS_INSIDE = new RegExp(`([;\\t\\n]["\\s]{0,64})(?=[${SIGNS}])`, 'g')

/**
 * A text of the chain as a spreadsheet cell that is shown and never evaluated. A text that would be a formula
 * gets a leading apostrophe, also where it would be one after a `;`, a tab or a line end. Invisible characters are
 * escaped, as on pages.
 */
export const textCell = (text: string): string => {
  const shown = visible(text).replaceAll(RUNS_INSIDE, "$1'")
  return RUNS.test(text) ? `'${shown}` : shown
}
