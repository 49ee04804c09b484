import { expect, test } from 'bun:test'
import { inflateSync } from 'node:zlib'
import { touchIcon } from './touch-icon.ts'

test('touchIcon: a small PNG of 180 pixels shows the mark on its background', () => {
  const png = touchIcon()
  const view = new DataView(png.buffer)
  expect(png.slice(0, 8)).toEqual(Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10]))
  expect([view.getUint32(16), view.getUint32(20), png.length < 4_000]).toEqual([180, 180, true])
  const length = view.getUint32(33)
  const rows = inflateSync(png.subarray(41, 41 + length))
  expect(rows.length).toBe(180 * 541)
  const at = (x: number, y: number) => [...rows.subarray(y * 541 + 1 + x * 3, y * 541 + 4 + x * 3)]
  expect([at(0, 0), at(79, 79), at(79, 39), at(130, 130)]).toEqual([
    [0x1b, 0x4f, 0xd6],
    [0x1b, 0x4f, 0xd6],
    [255, 255, 255],
    [255, 255, 255],
  ])
})
