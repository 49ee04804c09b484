import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import font from '@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf' with { type: 'file' }
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import renderer from '@resvg/resvg-wasm/index_bg.wasm' with { type: 'file' }
import { pngOf } from './png.ts'

const deflated = promisify(deflate)

/** The renderer is loaded for the first picture, since most services draw none. */
let fontBuffers: Promise<Uint8Array[]> | undefined

const ready = async (): Promise<Uint8Array[]> => {
  await initWasm(await Bun.file(renderer).arrayBuffer())
  return [await Bun.file(font).bytes()]
}

/** Bytes per pixel. */
const PIXEL = 4

/**
 * The PNG of an SVG, deterministic. Drawing blocks this thread for 10 to 20 ms. The pixels are compressed on
 * another thread.
 */
export const drawPng = async (svg: string): Promise<Uint8Array<ArrayBuffer>> => {
  fontBuffers ??= ready()
  const drawing = new Resvg(svg, { font: { fontBuffers: await fontBuffers, defaultFontFamily: 'Inter' } })
  const image = drawing.render()
  const { width, height, pixels } = image
  image.free()
  drawing.free()
  const row = width * PIXEL
  // Each row begins with its filter type: 0, none.
  const rows = new Uint8Array(height * (1 + row))
  for (let y = 0; y < height; y++) rows.set(pixels.subarray(y * row, (y + 1) * row), y * (1 + row) + 1)
  return pngOf({ width, height, colours: 'rgba' }, await deflated(rows))
}
