/** The kind of a piece of code; unhighlighted code is `plain`. */
type PieceKind = 'comment' | 'string' | 'number' | 'keyword' | 'plain'
export type Piece = { readonly kind: PieceKind; readonly text: string }

const KEYWORDS = new Set(
  [
    'async await break case catch class const continue debugger default delete do else export extends false finally',
    'for function if import in instanceof let new null of return static super switch this throw true try typeof',
    'undefined var void while with yield',
  ].flatMap(line => line.split(' ')),
)
/** Keywords that are values: a slash after one of them is a division. */
const VALUES = new Set(['false', 'null', 'super', 'this', 'true', 'undefined'])

const SPACE = /\s+/y
const COMMENT = /\/\/[^\n]*|\/\*.*?(?:\*\/|$)/sy
const QUOTED = /'[^'\\\n]*(?:\\.[^'\\\n]*)*'?|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?/sy
/**
 * A template's text from a backtick, or from the end of a substitution, to the closing backtick or the next
 * substitution.
 */
const TEMPLATE = /[`}](?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{|\\?$)/sy
const NUMBER = /0[xXbBoO][\da-fA-F_]+n?|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?n?/y
const WORD = /[\p{ID_Start}$_#][\p{ID_Continue}$]*/uy
/**
 * A regular expression ends at its slash or at the end of the line, whichever comes first. The match never
 * fails half-way, so code without the closing slash is not scanned again from each slash.
 */
const PATTERN = /\/(?:[^\\/[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\]?)+\/?[a-z]*/y
const ANY = /./suy

/**
 * Splits JavaScript into pieces, which together are the code. The code may be truncated anywhere, invalid, or
 * hostile. The time is linear for code of the length on pages. The engine fails on matches of more than about
 * 200,000 characters.
 */
export function highlight(code: string): readonly Piece[] {
  const pieces: Piece[] = []
  const reader: Reader = { code, at: 0, depths: [], last: '' }
  while (reader.at < code.length) {
    const piece = readPiece(reader)
    const before = pieces.at(-1)
    reader.at += piece.text.length
    if (piece.kind !== 'comment' && piece.text.trim() !== '') reader.last = piece.text
    if (before?.kind === piece.kind) pieces[pieces.length - 1] = { kind: before.kind, text: before.text + piece.text }
    else pieces.push(piece)
  }
  return pieces
}

type Reader = {
  readonly code: string
  at: number
  /** The number of open braces in each enclosing `${`. */
  readonly depths: number[]
  /** The last piece that is neither space nor comment; `""`: none. */
  last: string
}

function readPiece(reader: Reader): Piece {
  const { code, at } = reader
  const taken = (form: RegExp): string => {
    form.lastIndex = at
    return form.exec(code)?.[0] ?? ''
  }
  const space = taken(SPACE)
  if (space !== '') return { kind: 'plain', text: space }
  const comment = taken(COMMENT)
  if (comment !== '') return { kind: 'comment', text: comment }
  const string = taken(QUOTED) || readTemplate(reader, taken)
  if (string !== '') return { kind: 'string', text: string }
  const number = taken(NUMBER)
  if (number !== '') return { kind: 'number', text: number }
  const word = taken(WORD)
  if (word !== '')
    return {
      // After a dot it is a property name: `map.delete`.
      kind: KEYWORDS.has(word) && reader.last !== '.' ? 'keyword' : 'plain',
      text: word,
    }
  // After a value a slash is a division, and no regular expression begins.
  const pattern =
    /[)\]}"'`\p{ID_Continue}$]$/u.test(reader.last) && (!KEYWORDS.has(reader.last) || VALUES.has(reader.last))
      ? ''
      : taken(PATTERN)
  if (pattern !== '') return { kind: 'string', text: pattern }
  const sign = taken(ANY) || code.charAt(at)
  countBrace(reader.depths, sign)
  return { kind: 'plain', text: sign }
}

/** The next part of a template; `""`: the code is not a template here. */
function readTemplate({ code, at, depths }: Reader, taken: (form: RegExp) => string): string {
  const isEnd = code[at] === '}' && depths.at(-1) === 0
  if (code[at] !== '`' && !isEnd) return ''
  const text = taken(TEMPLATE)
  if (isEnd) depths.pop()
  if (text.endsWith('${')) depths.push(0)
  return text
}

function countBrace(depths: number[], sign: string): void {
  const depth = depths.at(-1)
  if (depth === undefined || (sign !== '{' && sign !== '}')) return
  depths[depths.length - 1] = depth + (sign === '{' ? 1 : -1)
}
