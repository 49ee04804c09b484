/** @jsxImportSource @kitajs/html */
import { escapeHtml } from '@kitajs/html'
import { highlight, type Piece } from '../format/highlight.ts'
import type { Html } from '../page.ts'

/** Pieces that are marked: each adds some 30 letters to the page, and code may be all numbers and commas. */
const MOST_MARKED = 1_500

/** Begins a line. Its number is made by the style, so that it is not copied with the code. */
const LINE = '<i></i>'

type CodeProps = {
  /** As it can be shown. */
  readonly text: string
  /** The language it is written in; that of another one than JavaScript is not marked. */
  readonly language: string
}

/** Code with the numbers of its lines; comments, strings, numbers and keywords have a colour each. */
export const Code = ({ text, language }: CodeProps): Html => {
  const code = text.replaceAll('\r\n', '\n').replace(/\n$/, '')
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
