import { memberSpans } from '#chain/json.ts'
import { type Answer, refused } from './answer.ts'

/** Values parsed as the node (Go) parses them. Invalid ones return an Answer with the node's error text. */

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])
/** Prefix of protojson's errors, with a no-break space. */
const PROTO = 'proto:\u00a0'
const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)

type Mismatch = { readonly parser: string; readonly text: string; readonly problem: string }

const mismatch = (parameter: string, { parser, text, problem }: Mismatch): Answer =>
  refused(
    3,
    `type mismatch, parameter: ${parameter}, error: strconv.${parser}: parsing ${JSON.stringify(text)}: ${problem}`,
  )

export function parseBool(parameter: string, text: string): boolean | Answer {
  if (TRUE.has(text)) return true
  if (FALSE.has(text)) return false
  return mismatch(parameter, { parser: 'ParseBool', text, problem: 'invalid syntax' })
}

/** strconv.ParseInt with base 10 and 64 bits. */
export function parseInt64(parameter: string, text: string): bigint | Answer {
  if (!/^[+-]?[0-9]+$/.test(text)) return mismatch(parameter, { parser: 'ParseInt', text, problem: 'invalid syntax' })
  const value = BigInt(text.replace(/^\+/, ''))
  return value > INT64_MAX || value < INT64_MIN
    ? mismatch(parameter, { parser: 'ParseInt', text, problem: 'value out of range' })
    : value
}

const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Fields of a body as protojson reads them: snake or camel case, int64 as number or string, 0 or "" if missing. */
function readBody<const I extends string, const T extends string>(
  body: string,
  fields: { readonly integers: readonly I[]; readonly texts: readonly T[] },
): ({ readonly [K in I]: bigint } & { readonly [K in T]: string }) | Answer {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return refused(3, `${PROTO}syntax error (line 1:1): invalid request body`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return refused(3, `${PROTO}syntax error (line 1:1): unexpected token`)
  const spans = memberSpans(body)
  const values = new Map<string, bigint | string>()
  const wanted = [
    ...fields.integers.map(name => ({ name, type: 'int64', missing: 0n, read: integerIn })),
    ...fields.texts.map(name => ({ name, type: 'string', missing: '', read: textIn })),
  ]
  for (const { name, type, missing, read } of wanted) {
    const span = spans.get(name) ?? spans.get(camelCase(name))
    const written = span === undefined ? undefined : body.slice(...span)
    const value = written === undefined ? missing : read(written)
    if (value === undefined)
      return refused(3, `${PROTO}(line 1:${(span?.[0] ?? 0) + 1}): invalid value for ${type} type: ${written}`)
    values.set(name, value)
  }
  return Object.fromEntries(values) as { [K in I]: bigint } & { [K in T]: string }
}

function integerIn(written: string): bigint | undefined {
  const digits = /^"?(-?[0-9]+)"?$/.exec(written)?.[1]
  return digits === undefined ? undefined : BigInt(digits)
}

const textIn = (written: string): string | undefined =>
  written.startsWith('"') ? (JSON.parse(written) as string) : undefined

/** Headers per call of getBlockHeaderByRange, and the maximum range of getBlockTxsByContract (go-iost rpc). */
const HEAD_LIMIT = 110n
const TRANSACTION_RANGE = 100n

const invalid = (from: bigint, to: bigint): Answer => refused(2, `invalid range ${from} to ${to}`)

/** The body of getBlockHeaderByRange: heights from `start` up to, but not including, `end`. */
export function readHeadRange(body: string): { readonly start: bigint; readonly end: bigint } | Answer {
  const range = readBody(body, { integers: ['start', 'end'], texts: [] })
  if ('status' in range) return range
  const { start, end } = range
  return end <= start || end > start + HEAD_LIMIT ? invalid(start, end) : range
}

/** The body of getBlockTxsByContract: both heights are included. */
export function readTransactionRange(body: string):
  | {
      readonly from_block: bigint
      readonly to_block: bigint
      readonly contract: string
      readonly action_name: string
    }
  | Answer {
  const asked = readBody(body, { integers: ['from_block', 'to_block'], texts: ['contract', 'action_name'] })
  if ('status' in asked) return asked
  const { from_block: from, to_block: to } = asked
  return to <= from || to > from + TRANSACTION_RANGE ? invalid(from, to) : asked
}
