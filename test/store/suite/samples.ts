import { type BalanceDoc, balanceId, balances } from '#indices/balance.ts'
import type { Field } from '#indices/define.ts'
import { type ProducerDoc, producers } from '#indices/producer.ts'
import { type StateChange, stateIndices } from '#indices/registry.ts'
import { type TokenDoc, tokens } from '#indices/token.ts'
import { createDoc, MAX, MIN } from './fixture.ts'

export const balanceDoc = (token: string, owner: string, over: Partial<BalanceDoc> = {}) =>
  createDoc(balances, balanceId(token, owner), { token, owner, ...over })
export const tokenDoc = (symbol: string, over: Partial<TokenDoc> = {}) =>
  createDoc(tokens, symbol, { symbol, full_name: symbol, ...over })
export const producerDoc = (account: string, over: Partial<ProducerDoc> = {}) =>
  createDoc(producers, account, { account, registered: true, ...over })

/** The greatest or the least value of a field. */
function createValue({ kind }: Field, isGreatest: boolean): unknown {
  switch (kind) {
    case 'bool':
      return isGreatest
    case 'int':
      return isGreatest ? Number.MAX_SAFE_INTEGER : 0
    case 'long':
      return isGreatest ? MAX : MIN
    case 'json':
      return isGreatest ? [['9223372036854775807', -1, '', '%2C'], { name: '__proto__', of: [], is: true }] : []
    default:
      return isGreatest ? '__proto__' : ',,0,-5;3,2,f1,7,1800000000000000001;'
  }
}

/** Two documents of every state index: with the greatest values and all optional fields, and with the least and none. */
export const samples: readonly StateChange[] = stateIndices.flatMap(index =>
  [true, false].map(isGreatest => {
    const id = `sample/${isGreatest}`
    const fields = Object.entries<Field>(index.fields)
      .filter(([, { optional }]) => isGreatest || !optional)
      .map(([name, field]) => [name, name === index.named ? id : createValue(field, isGreatest)] as const)
    return { index, doc: { id, ...Object.fromEntries(fields) } } as unknown as StateChange
  }),
)

/** Texts that some stores changed: control characters, NUL, line separators, right-to-left text, long texts. */
export const oddTexts: readonly string[] = [
  '',
  ' ',
  'a\u0000b\u0000',
  '\u0001\u001f\u007f\u0085',
  'line\r\nline\u2028\u2029',
  '😀👩‍👩‍👧‍👦 日本語 ßſK',
  '\u202eright to left \u05d0\u05d1',
  '\ufeffmark \ufffd \uffff',
  '"\\u0000\\ud800\' ; DROP TABLE tokens; --',
  '{"a":1}',
  '1e400',
  '[9007199254740993]',
  'é e\u0301',
  'x'.repeat(60_000),
  '€😀'.repeat(9_000),
]

/** Names that exist on the chain, and names that are dangerous where ids become keys, paths or patterns. */
export const oddIds: readonly string[] = [
  ...['__proto__', 'constructor', 'toString', '12345', '0', '-1', '_id'],
  ...['a/b', 'a b%2F?&#', '../x', 'A', 'a', 'ü', 'x'.repeat(200)],
]
