import type { Book } from '#actions/books/book.ts'
import { fileStem, textCell } from '#explorer/download/file.ts'
import { csvLine, csvSerializer } from './csv.ts'
import type { FormattedExport } from './form.ts'

/**
 * A list in the columns of an accounting program, as a CSV file. No text in it is a formula that a
 * spreadsheet would run.
 */
export const bookForm = ({ heads, linesOf, names }: Book): FormattedExport => ({
  fileName: `${fileStem(names)}.csv`,
  isShorter: true,
  serializer: csvSerializer({
    heads,
    linesOf: rows =>
      linesOf(rows).map(line => csvLine(line.map(cell => (typeof cell === 'string' ? textCell(cell) : cell)))),
  }),
})
