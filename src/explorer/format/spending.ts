import type { Text } from '#actions/text.ts'
import { cutWord } from './action-name.ts'

/** The spending limit of an action or a transaction, of one token or of any. */
export type Limit = { readonly token: string; readonly value: string }

const UNLIMITED: Text = { en: 'any amount of ', zh: '不限数量的' }
const ANY: Text = { en: 'any token', zh: '任意代币' }

/** A limit in words: `3 iost`, `any amount of any token`. */
export const limitText = ({ token, value }: Limit, say: (text: Text) => string): string => {
  const amount = value === 'unlimited' ? say(UNLIMITED) : `${cutWord(value)} `
  return `${amount}${token === '*' ? say(ANY) : cutWord(token)}`
}
