/** A field of a protobuf message: its number and the bytes of a length-delimited value. */
export type ProtobufField = { readonly number: number; readonly bytes: Uint8Array }

const VARINT = 0
const FIXED64 = 1
const DELIMITED = 2
const FIXED32 = 5

/** Length-delimited fields of a message in order, others skipped; undefined: the bytes are no message. */
export function protobufFields(message: Uint8Array): readonly ProtobufField[] | undefined {
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

type Varint = { readonly value: number; readonly end: number }

function parseVarint(message: Uint8Array, from: number): Varint | undefined {
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
  switch (kind) {
    case VARINT: {
      const varint = parseVarint(message, from)
      return varint === undefined ? undefined : [from, varint.end]
    }
    case FIXED64:
      return [from, from + 8]
    case FIXED32:
      return [from, from + 4]
    case DELIMITED: {
      const length = parseVarint(message, from)
      return length === undefined ? undefined : [length.end, length.end + length.value]
    }
    default:
      return undefined
  }
}
