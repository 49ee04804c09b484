/** @jsxImportSource @kitajs/html */
import { escapeHtml } from '@kitajs/html'
import { highlight, type Piece } from '../format/highlight.ts'
import type { Html } from '../page.ts'

/**
 * Maximum number of highlighted pieces. Each adds about 30 characters to the page, and code may consist of
 * numbers and commas.
 */
const MOST_MARKED = 1_500

/** The start of a line. CSS generates the line number, so that it is not copied with the code. */
const LINE = '<i></i>'

type CodeProps = {
  /** The code, safe to display. */
  readonly text: string
  /** The programming language. Only JavaScript is highlighted. */
  readonly language: string
}

/** Code with line numbers. Comments, strings, numbers and keywords each have a colour. */
export const Code = ({ text, language }: CodeProps): Html => {
  const code = text.replace(/\n$/, '')
  const pieces: readonly Piece[] =
    language.toLowerCase() === 'javascript' ? highlight(code) : [{ kind: 'plain', text: code }]
  let marked = 0
  const safeLines = pieces
    .map(({ kind, text: piece }) => {
      const safePiece = escapeHtml(piece).replaceAll('\n', `\n${LINE}`)
      if (kind === 'plain' || ++marked > MOST_MARKED) return safePiece
      return `<span class="js-${kind}">${safePiece}</span>`
    })
    .join('')
  return (
    <pre class="chain lines" tabindex="0">
      {`${LINE}${safeLines}` as 'safe'}
    </pre>
  )
}
