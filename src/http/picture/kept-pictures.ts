import { drawPng } from './draw.ts'

type Png = Uint8Array<ArrayBuffer>

/** Maximum number of cached pictures, of about 30 KB each. */
const MOST = 64

/**
 * Draws pictures one at a time, so that other requests have their turn in between. A picture is drawn once
 * per content, while it is among the most recently requested ones.
 */
export const keptPictures = (draw: (svg: string) => Promise<Png> = drawPng) => {
  const kept = new Map<string, Promise<Png>>()
  let last: Promise<unknown> = Promise.resolve()
  return (svg: string): Promise<Png> => {
    const known = kept.get(svg)
    const drawn = known ?? last.then(() => draw(svg))
    kept.delete(svg)
    kept.set(svg, drawn)
    const [oldest] = kept.keys()
    if (kept.size > MOST && oldest !== undefined) kept.delete(oldest)
    if (known !== undefined) return drawn
    last = drawn.catch(() => {
      if (kept.get(svg) === drawn) kept.delete(svg)
    })
    return drawn
  }
}
