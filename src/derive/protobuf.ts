/** A field of a protobuf message: its number and the bytes of a length-delimited value. */
export type ProtobufField = { readonly number: number; readonly bytes: Uint8Array }

const VARINT = 0
const FIXED64 = 1
const DELIMITED = 2
const FIXED32 = 5

/** Length-delimited fields of a message in order, others skipped; undefined when the bytes are no message. */
export const protobufFields = (message: Uint8Array): readonly ProtobufField[] | undefined => {
  const fields: ProtobufField[] = []
  let at = 0
  const varint = (): number | undefined => {
    let value = 0
    for (let shift = 1; at < message.length && shift <= 2 ** 42; shift *= 128) {
      const byte = message[at] ?? 0
      at += 1
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
    return undefined
  }
  while (at < message.length) {
    const tag = varint()
    // Fields are numbered from 1.
    if (tag === undefined || tag < 8) return undefined
    const kind = tag % 8
    if (kind === VARINT) {
      if (varint() === undefined) return undefined
    } else if (kind === FIXED64) at += 8
    else if (kind === FIXED32) at += 4
    else if (kind === DELIMITED) {
      const length = varint()
      if (length === undefined || at + length > message.length) return undefined
      fields.push({ number: Math.floor(tag / 8), bytes: message.subarray(at, at + length) })
      at += length
    } else return undefined
  }
  return at === message.length ? fields : undefined
}
