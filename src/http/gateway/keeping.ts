import { tryParseJson } from '#chain/json.ts'
import type { NodeResponse } from '#node/port.ts'

/**
 * Milliseconds after the call to the node for which an answer is reused. The chain makes a block every 500,
 * so an answer is no older than from a node that is one block behind.
 */
export const FRESH_MS = 500
/** Milliseconds for which a final answer is reused. It stays true, but a better node should eventually be asked. */
export const FINAL_MS = 60_000
/** Maximum size of a cached answer. A larger one would evict many others. */
const MAX_BYTES = 1024 * 1024

const OPENING = '{'.charCodeAt(0)
const CLOSING = '}'.charCodeAt(0)

/**
 * Whether an answer may be cached at all: a JSON object with status 200, never a refusal, a failure or a proxy's page.
 */
export const isKeepable = ({ status, contentType, body }: NodeResponse): boolean =>
  status === 200 &&
  contentType?.startsWith('application/json') === true &&
  body.length <= MAX_BYTES &&
  body[0] === OPENING &&
  body.at(-1) === CLOSING

/** Two fields of an answer: the name of the thing in the path, and the height of its block. */
type AnswerFields = { readonly name: unknown; readonly height: unknown }

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)

/** The methods that return a block or transaction. All others answer for the head or the last irreversible block. */
const SAYING: ReadonlyMap<string, (answer: Json) => AnswerFields> = new Map([
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
 * Whether an answer is final: the node calls the block or transaction in `path` irreversible, and its block
 * is not above `lib`, the last irreversible block known from the nodes.
 */
export function isFinal(path: string, body: Uint8Array, lib: number): boolean {
  const [, method = '', asked = ''] = path.split('/')
  const saying = SAYING.get(method)
  if (saying === undefined) return false
  const answer = parseBodyObject(body)
  if (answer === undefined || answer['status'] !== 'IRREVERSIBLE') return false
  const { name, height } = saying(answer)
  return name === (/^0+\d/.test(asked) ? String(BigInt(asked)) : asked) && isHeight(height) && Number(height) <= lib
}

const isHeight = (value: unknown): value is string => typeof value === 'string' && /^\d{1,15}$/.test(value)

function parseBodyObject(body: Uint8Array): Json | undefined {
  const value = tryParseJson(new TextDecoder().decode(body))
  return isObject(value) ? value : undefined
}
