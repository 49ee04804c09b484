/** What a piece of code is; all that is not marked is `plain`. */
export type PieceKind = 'comment' | 'string' | 'number' | 'keyword' | 'plain'
export type Piece = { readonly kind: PieceKind; readonly text: string }

const KEYWORDS = new Set(
  [
    'async await break case catch class const continue debugger default delete do else export extends false finally',
    'for function if import in instanceof let new null of return static super switch this throw true try typeof',
    'undefined var void while with yield',
  ].flatMap(line => line.split(' ')),
)
/** Keywords that are a value: a slash after one of them divides. */
const VALUES = new Set(['false', 'null', 'super', 'this', 'true', 'undefined'])

const SPACE = /\s+/y
const COMMENT = /\/\/[^\n]*|\/\*.*?(?:\*\/|$)/sy
const QUOTED = /'[^'\\\n]*(?:\\.[^'\\\n]*)*'?|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?/sy
/** From a backtick, or from the end of what is put in, to the next one or to where something is put in. */
const TEMPLATE = /[`}](?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{|\\?$)/sy
const NUMBER = /0[xXbBoO][\da-fA-F_]+n?|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?n?/y
const WORD = /[\p{ID_Start}$_#][\p{ID_Continue}$]*/uy
/**
 * A pattern goes to its slash or to the end of the line, whichever comes first: as nothing fails half-way, code that never
 * ends what it begins is not read again from each slash.
 */
const PATTERN = /\/(?:[^\\/[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\]?)+\/?[a-z]*/y
const ANY = /./suy

/**
 * Code of JavaScript in pieces, which together are the code. It need not be whole or right: it may be cut anywhere, and
 * anybody may have written it. The time is proportional to its length, for code as long as pages show: the engine gives up on
 * patterns of more than some 200,000 letters.
 */
export const highlight = (code: string): readonly Piece[] => {
  const pieces: Piece[] = []
  const reader: Reader = { code, at: 0, depths: [], last: '' }
  while (reader.at < code.length) {
    const piece = nextPiece(reader)
    const before = pieces.at(-1)
    reader.at += piece.text.length
    if (piece.kind !== 'comment' && piece.text.trim() !== '') reader.last = piece.text
    if (before?.kind === piece.kind) pieces[pieces.length - 1] = joined(before, piece)
    else pieces.push(piece)
  }
  return pieces
}

type Reader = {
  readonly code: string
  at: number
  /** Braces that are open in each `${` around this place. */
  readonly depths: number[]
  /** The last piece that is neither space nor comment; `""`: none. */
  last: string
}

const joined = ({ kind, text }: Piece, { text: more }: Piece): Piece => ({ kind, text: text + more })

const nextPiece = (reader: Reader): Piece => {
  const { code, at } = reader
  const taken = (form: RegExp): string => {
    form.lastIndex = at
    return form.exec(code)?.[0] ?? ''
  }
  const space = taken(SPACE)
  if (space !== '') return { kind: 'plain', text: space }
  const comment = taken(COMMENT)
  if (comment !== '') return { kind: 'comment', text: comment }
  const string = taken(QUOTED) || templateAt(reader, taken)
  if (string !== '') return { kind: 'string', text: string }
  const number = taken(NUMBER)
  if (number !== '') return { kind: 'number', text: number }
  const word = taken(WORD)
  if (word !== '') return { kind: isKeyword(word, reader.last) ? 'keyword' : 'plain', text: word }
  const pattern = isValue(reader.last) ? '' : taken(PATTERN)
  if (pattern !== '') return { kind: 'string', text: pattern }
  const sign = taken(ANY) || code.charAt(at)
  countBrace(reader.depths, sign)
  return { kind: 'plain', text: sign }
}

/** The next part of a template; `""`: none begins here. */
const templateAt = ({ code, at, depths }: Reader, taken: (form: RegExp) => string): string => {
  const isEnd = code[at] === '}' && depths.at(-1) === 0
  if (code[at] !== '`' && !isEnd) return ''
  const text = taken(TEMPLATE)
  if (isEnd) depths.pop()
  if (text.endsWith('${')) depths.push(0)
  return text
}

const countBrace = (depths: number[], sign: string): void => {
  const depth = depths.at(-1)
  if (depth === undefined || (sign !== '{' && sign !== '}')) return
  depths[depths.length - 1] = depth + (sign === '{' ? 1 : -1)
}

/** The same word behind a dot is a name: `map.delete`. */
const isKeyword = (word: string, last: string): boolean => KEYWORDS.has(word) && last !== '.'

/** Whether a value ends there, so that a slash behind it divides and begins no pattern. */
const isValue = (last: string): boolean =>
  /[)\]}"'`\p{ID_Continue}$]$/u.test(last) && (!KEYWORDS.has(last) || VALUES.has(last))
