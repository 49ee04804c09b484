import { cut } from './visible.ts'

/** Maximum length of the name of a contract's action. */
const MOST = 32

/** The name of an action in a row. A failed call may contain a name of any length. */
export const actionText = (name: string): string => cut(name, MOST)
