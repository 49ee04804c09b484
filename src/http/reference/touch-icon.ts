import { deflateSync } from 'node:zlib'
import { pngOf } from '../picture/png.ts'

/** Pixels per side, the size that phones request. */
const SIZE = 180
/** Samples per pixel in each direction, for smooth edges. */
const SAMPLES = 3
const GROUND = [0x1b, 0x4f, 0xd6] as const
/** Side length of the coordinate system of the mark, equal to that of `favicon`. */
const BOX = 32

/** The page's logo as PNG, since phones do not use an SVG on the home screen. Phones round the corners. */
export const touchIcon = (): Uint8Array<ArrayBuffer> => {
  const rows = new Uint8Array(SIZE * (1 + SIZE * 3))
  for (let y = 0; y < SIZE; y++)
    for (let x = 0; x < SIZE; x++) {
      const white = shareOf(x, y)
      for (const [at, colour] of GROUND.entries())
        rows[y * (1 + SIZE * 3) + 1 + x * 3 + at] = Math.round(colour + (255 - colour) * white)
    }
  return pngOf({ width: SIZE, height: SIZE, colours: 'rgb' }, deflateSync(rows))
}

/** The share of a pixel that the mark covers, from 0 to 1. */
const shareOf = (x: number, y: number): number => {
  let covered = 0
  for (let at = 0; at < SAMPLES * SAMPLES; at++) {
    const [dx, dy] = [(at % SAMPLES) + 0.5, Math.floor(at / SAMPLES) + 0.5]
    const scale = BOX / SIZE
    if (isMark((x + dx / SAMPLES) * scale, (y + dy / SAMPLES) * scale)) covered += 1
  }
  return covered / (SAMPLES * SAMPLES)
}

/** Whether a point is in the mark: a ring, and a handle with round ends. */
const isMark = (x: number, y: number): boolean => {
  const ring = Math.abs(Math.hypot(x - 14, y - 14) - 7) <= 1.5
  const along = Math.min(1, Math.max(0, (x - 19 + (y - 19)) / 14))
  return ring || Math.hypot(x - 19 - along * 7, y - 19 - along * 7) <= 2
}
