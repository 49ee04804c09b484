import { crc32 } from 'node:zlib'

type Form = {
  /** In pixels. */
  readonly width: number
  readonly height: number
  /** Channels of a pixel: red, green, blue, and opacity in `rgba`. */
  readonly colours: 'rgb' | 'rgba'
}

/** Bit depth 8 and the colour type, as in PNG (ISO/IEC 15948). */
const TYPES = { rgb: 0x0802, rgba: 0x0806 } as const

/** A PNG of zlib-compressed rows. Each row begins with a byte for its filter type. */
export const pngOf = ({ width, height, colours }: Form, rows: Uint8Array): Uint8Array<ArrayBuffer> => {
  const head = new DataView(new ArrayBuffer(13))
  head.setUint32(0, width)
  head.setUint32(4, height)
  head.setUint16(8, TYPES[colours])
  const chunks = [chunk('IHDR', new Uint8Array(head.buffer)), chunk('IDAT', rows), chunk('IEND', new Uint8Array())]
  return new Uint8Array(Buffer.concat([Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10]), ...chunks]))
}

/** A chunk of a PNG: its length, its name, its bytes, and their checksum. */
const chunk = (name: string, bytes: Uint8Array): Uint8Array => {
  const made = new Uint8Array(12 + bytes.length)
  const view = new DataView(made.buffer)
  view.setUint32(0, bytes.length)
  made.set(new TextEncoder().encode(name), 4)
  made.set(bytes, 8)
  view.setUint32(8 + bytes.length, crc32(made.subarray(4, 8 + bytes.length)))
  return made
}
