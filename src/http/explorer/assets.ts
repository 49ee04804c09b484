import plots from 'uplot/dist/uPlot.iife.min.js' with { type: 'text' }
import script from '#explorer/asset/script.js' with { type: 'text' }
import style from '#explorer/asset/style.css' with { type: 'text' }
import type { Site } from '#explorer/page.ts'
import type { Handler } from '../exchange.ts'
import { textReply } from '../reply.ts'

type Asset = { readonly name: string; readonly handler: Handler }

/** A file that never changes under its name, which has a part of its hash. */
const asset = (stem: string, { ending, type }: { ending: string; type: string }, text: string): Asset => {
  const hash = new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 12)
  const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' }
  return {
    name: `${stem}-${hash}.${ending}`,
    handler: async () => textReply(200, { type, text }, { headers, form: 'tagged' }),
  }
}

/** Style and scripts of the explorer. */
export const explorerAssets = (): { readonly names: Site['assets']; readonly all: readonly Asset[] } => {
  const js = { ending: 'js', type: 'text/javascript; charset=utf-8' }
  const made = {
    style: asset('style', { ending: 'css', type: 'text/css; charset=utf-8' }, style),
    script: asset('explorer', js, script),
    plots: asset('plots', js, plots),
  }
  return {
    names: { style: made.style.name, script: made.script.name, plots: made.plots.name },
    all: Object.values(made),
  }
}
