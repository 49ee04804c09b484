import { crc32, deflateSync } from 'node:zlib'

/** Pixels of a side, as phones ask for. */
const SIZE = 180
/** Samples of a pixel in each direction: edges are smooth. */
const SAMPLES = 3
const GROUND = [0x1b, 0x4f, 0xd6] as const
/** Sides of the picture that the mark is drawn in, as in `favicon`. */
const BOX = 32

/** The page's mark as PNG: phones take no SVG for the picture of a page on the home screen. They round its corners. */
export const touchIcon = (): Uint8Array<ArrayBuffer> => {
  const rows = new Uint8Array(SIZE * (1 + SIZE * 3))
  for (let y = 0; y < SIZE; y++)
    for (let x = 0; x < SIZE; x++) {
      const white = shareOf(x, y)
      for (const [at, colour] of GROUND.entries())
        rows[y * (1 + SIZE * 3) + 1 + x * 3 + at] = Math.round(colour + (255 - colour) * white)
    }
  const head = new DataView(new ArrayBuffer(13))
  head.setUint32(0, SIZE)
  head.setUint32(4, SIZE)
  // Eight bits for each of red, green and blue.
  head.setUint16(8, 0x0802)
  const chunks = [
    chunk('IHDR', new Uint8Array(head.buffer)),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', new Uint8Array()),
  ]
  return new Uint8Array(Buffer.concat([Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10]), ...chunks]))
}

/** How much of a pixel the mark covers. */
const shareOf = (x: number, y: number): number => {
  let covered = 0
  for (let at = 0; at < SAMPLES * SAMPLES; at++) {
    const [dx, dy] = [(at % SAMPLES) + 0.5, Math.floor(at / SAMPLES) + 0.5]
    const scale = BOX / SIZE
    if (isMark((x + dx / SAMPLES) * scale, (y + dy / SAMPLES) * scale)) covered += 1
  }
  return covered / (SAMPLES * SAMPLES)
}

/** A ring, and a handle with round ends. */
const isMark = (x: number, y: number): boolean => {
  const ring = Math.abs(Math.hypot(x - 14, y - 14) - 7) <= 1.5
  const along = Math.min(1, Math.max(0, (x - 19 + (y - 19)) / 14))
  return ring || Math.hypot(x - 19 - along * 7, y - 19 - along * 7) <= 2
}

/** A piece of a PNG: its length, its name, its bytes, and their checksum. */
const chunk = (name: string, bytes: Uint8Array): Uint8Array => {
  const made = new Uint8Array(12 + bytes.length)
  const view = new DataView(made.buffer)
  view.setUint32(0, bytes.length)
  made.set(new TextEncoder().encode(name), 4)
  made.set(bytes, 8)
  view.setUint32(8 + bytes.length, crc32(made.subarray(4, 8 + bytes.length)))
  return made
}
