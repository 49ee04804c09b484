import { cut } from './visible.ts'

/** Letters of the longest name that an action of a contract has. */
const MOST = 32

/** The name of an action in a row: a call that failed may name one of any length. */
export const actionText = (name: string): string => cut(name, MOST)
