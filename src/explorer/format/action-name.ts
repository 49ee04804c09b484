import { cut } from './visible.ts'

/** Maximum length of the name of a contract's action. */
const MOST = 32

/** The name of an action in a row. A failed call may contain a name of any length. */
export const actionText = (name: string): string => cut(name, MOST)

/** Maximum length of a word that the publisher of a contract or a transaction chose, such as the name of an argument. */
const MOST_OF_WORD = 64

/** A word of a publisher: of an argument, a type or a limit. */
export function cutWord(word: string): string {
  return cut(word, MOST_OF_WORD)
}
