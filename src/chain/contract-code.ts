import type { ContractCode } from './block.ts'
import { Exact, type ExactJson, tryParseExact } from './json.ts'

/** A field of a protobuf message: its number and the bytes of a length-delimited value. */
type ProtobufField = { readonly number: number; readonly bytes: Uint8Array }

const DELIMITED = 2

/** Length-delimited fields of a message in order, others skipped; undefined: the bytes are no message. */
function protobufFields(message: Uint8Array): readonly ProtobufField[] | undefined {
  const fields: ProtobufField[] = []
  for (let at = 0; at < message.length; ) {
    const tag = parseVarint(message, at)
    // Field numbers start at 1.
    if (tag === undefined || tag.value < 8) return undefined
    const kind = tag.value % 8
    const span = valueSpan(message, tag.end, kind)
    if (span === undefined || span[1] > message.length) return undefined
    if (kind === DELIMITED) fields.push({ number: Math.floor(tag.value / 8), bytes: message.subarray(...span) })
    at = span[1]
  }
  return fields
}

function parseVarint(message: Uint8Array, from: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0
  let at = from
  for (let shift = 1; at < message.length && shift <= 2 ** 42; shift *= 128) {
    const byte = message[at] ?? 0
    at += 1
    value += (byte & 127) * shift
    if (byte < 128) return { value, end: at }
  }
  return undefined
}

/** Position of a value of this kind, perhaps beyond the message's end; undefined for an unknown kind. */
function valueSpan(message: Uint8Array, from: number, kind: number): readonly [from: number, to: number] | undefined {
  // Kinds are the wire types of protobuf: 1 and 5 have 64 and 32 bits, 0 is a varint alone.
  if (kind === 1) return [from, from + 8]
  if (kind === 5) return [from, from + 4]
  if (kind !== 0 && kind !== DELIMITED) return undefined
  const varint = parseVarint(message, from)
  return varint && (kind === DELIMITED ? [varint.end, varint.end + varint.value] : [from, varint.end])
}

/** The metadata of a contract, and its code. Its id is `""` in setCode: the chain assigns it. */
type Deployed = ContractCode & { readonly code: string }

/** Position of the contract among the arguments of an action of system.iost. */
export const CONTRACT_AT: ReadonlyMap<string, number> = new Map([
  ['setCode', 0],
  ['updateCode', 0],
  ['initSetCode', 1],
  ['updateNativeCode', 2],
])

/**
 * Parses a contract given as an action's argument: JSON text, or base64 of protobuf (go-iost
 * `vm/native/system.go` setCode). undefined: neither (genesis texts from which the code was removed).
 */
export function parseDeployedContract(text: string): Deployed | undefined {
  if (text === '') return undefined
  return text.startsWith('{') ? parseJsonContract(text) : parseProtobufContract(Buffer.from(text, 'base64'))
}

function parseJsonContract(text: string): Deployed | undefined {
  const contract = tryParseExact(text)
  if (contract === undefined) return undefined
  const info = field(contract, 'info')
  return {
    id: textField(contract, 'ID'),
    language: textField(info, 'lang'),
    version: textField(info, 'version'),
    abis: listField(info, 'abi').map(abi => ({
      name: textField(abi, 'name'),
      args: listField(abi, 'args').map(arg => (typeof arg === 'string' ? arg : '')),
      amount_limit: listField(abi, 'amountLimit').map(limit => ({
        token: textField(limit, 'token'),
        value: textField(limit, 'val'),
      })),
    })),
    code: textField(contract, 'code'),
  }
}

/** Go reads object keys in any letter case; the last one that matches counts. */
function field(value: ExactJson | undefined, name: string): ExactJson | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Exact) return undefined
  let found: ExactJson | undefined
  for (const [key, entry] of Object.entries(value))
    if (key.toLowerCase() === name.toLowerCase()) found = entry as ExactJson
  return found
}
function textField(value: ExactJson | undefined, name: string): string {
  const entry = field(value, name)
  return typeof entry === 'string' ? entry : ''
}
function listField(value: ExactJson | undefined, name: string): readonly ExactJson[] {
  const entry = field(value, name)
  return Array.isArray(entry) ? entry : []
}

/** Uses the field numbers of go-iost `core/contract/contract.proto`. */
function parseProtobufContract(bytes: Uint8Array): Deployed | undefined {
  const contract = protobufFields(bytes)
  if (contract === undefined) return undefined
  const info = protobufFields(getFieldBytes(contract, 2)) ?? []
  return {
    id: getFieldText(contract, 1),
    language: getFieldText(info, 1),
    version: getFieldText(info, 2),
    abis: info
      .filter(({ number }) => number === 3)
      .map(({ bytes: abi }) => {
        const parts = protobufFields(abi) ?? []
        return {
          name: getFieldText(parts, 1),
          args: parts.filter(({ number }) => number === 2).map(({ bytes: arg }) => utf8(arg)),
          amount_limit: parts
            .filter(({ number }) => number === 3)
            .map(({ bytes: limit }) => {
              const pair = protobufFields(limit) ?? []
              return { token: getFieldText(pair, 1), value: getFieldText(pair, 2) }
            }),
        }
      }),
    code: getFieldText(contract, 3),
  }
}

const utf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const getFieldBytes = (fields: readonly ProtobufField[], number: number): Uint8Array =>
  fields.findLast(field => field.number === number)?.bytes ?? new Uint8Array()
const getFieldText = (fields: readonly ProtobufField[], number: number): string => utf8(getFieldBytes(fields, number))
