import type { NodeAnswer } from '#node/port.ts'

/**
 * An answer is given again until so long after the node was asked, in milliseconds: the chain makes a block every 500, so
 * a reader hears nothing older than from a node that is one block behind.
 */
export const FRESH_MS = 500
/** The same for a final answer: it stays true, but when a better node is used, that one is to be asked again some day. */
export const FINAL_MS = 60_000
/** A larger answer is not kept: it would drive out many others. */
const MAX_BYTES = 1024 * 1024

const OPENING = '{'.charCodeAt(0)
const CLOSING = '}'.charCodeAt(0)

/** Whether an answer may be given again at all: an object in JSON, never a refusal, a failure or what no node says. */
export const isKeepable = ({ status, contentType, body }: NodeAnswer): boolean =>
  status === 200 &&
  contentType?.startsWith('application/json') === true &&
  body.length <= MAX_BYTES &&
  body[0] === OPENING &&
  body.at(-1) === CLOSING

/** Two claims of an answer about the thing that its path names: the name again, and the block that the thing is in. */
type Said = { readonly name: unknown; readonly height: unknown }

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)

/** The methods that name a block or transaction; the others answer for the head or the last irreversible block. */
const SAYING: ReadonlyMap<string, (answer: Json) => Said> = new Map([
  ['getBlockByNumber', ({ block }) => ({ name: member(block, 'number'), height: member(block, 'number') })],
  [
    'getRawBlockByNumber',
    ({ block }) => {
      const number = member(member(block, 'head'), 'number')
      return { name: number, height: number }
    },
  ],
  ['getBlockByHash', ({ block }) => ({ name: member(block, 'hash'), height: member(block, 'number') })],
  ['getTxByHash', ({ transaction, block_number: height }) => ({ name: member(transaction, 'hash'), height })],
])

/**
 * Whether an answer can not change any more: the block or transaction that `path` names, which the node calls
 * irreversible, and which is not above the last irreversible block `lib` that is known of the nodes.
 */
export const isFinal = (path: string, body: Uint8Array, lib: number): boolean => {
  const [, method = '', asked = ''] = path.split('/')
  const saying = SAYING.get(method)
  if (saying === undefined) return false
  const answer = objectIn(body)
  if (answer === undefined || answer['status'] !== 'IRREVERSIBLE') return false
  const { name, height } = saying(answer)
  return (
    name === (/^0+\d/.test(asked) ? String(BigInt(asked)) : asked) &&
    isHeight(height) &&
    Number(height) <= lib
  )
}

const isHeight = (value: unknown): value is string => typeof value === 'string' && /^\d{1,15}$/.test(value)

const objectIn = (body: Uint8Array): Json | undefined => {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
