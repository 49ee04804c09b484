import { readFileSync } from 'node:fs'
import baseStyle from '#explorer/asset/base.css' with { type: 'text' }
import cardsStyle from '#explorer/asset/cards.css' with { type: 'text' }
import copyScript from '#explorer/asset/copy.js' with { type: 'text' }
import detailsStyle from '#explorer/asset/details.css' with { type: 'text' }
import figuresStyle from '#explorer/asset/figures.css' with { type: 'text' }
import formsStyle from '#explorer/asset/forms.css' with { type: 'text' }
import frameStyle from '#explorer/asset/frame.css' with { type: 'text' }
import liveScript from '#explorer/asset/live.js' with { type: 'text' }
import liveWorkerScript from '#explorer/asset/live-worker.js' with { type: 'text' }
import plotsScript from '#explorer/asset/plots.js' with { type: 'text' }
import previewPicture from '#explorer/asset/preview.png' with { type: 'file' }
import printStyle from '#explorer/asset/print.css' with { type: 'text' }
import referenceStyle from '#explorer/asset/reference.css' with { type: 'text' }
import rowsStyle from '#explorer/asset/rows.css' with { type: 'text' }
import searchScript from '#explorer/asset/search.js' with { type: 'text' }
import stackedStyle from '#explorer/asset/stacked.css' with { type: 'text' }
import textsStyle from '#explorer/asset/texts.css' with { type: 'text' }
import themeScript from '#explorer/asset/theme.js' with { type: 'text' }
import timesScript from '#explorer/asset/times.js' with { type: 'text' }
import type { Site } from '#explorer/page.ts'
import type { Handler } from './exchange.ts'
import { script as referenceScript } from './reference/script.ts'
import { type Body, lastingReply, type Reply } from './reply.ts'

type Asset = { readonly name: string; readonly handler: Handler }

/** An immutable file: its name contains a part of its hash. */
function asset(stem: string, { ending, type }: { ending: string; type: string }, body: Body): Asset {
  const hash = new Bun.CryptoHasher('sha256').update(body).digest('hex').slice(0, 12)
  const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' }
  const reply: Reply =
    typeof body === 'string'
      ? lastingReply({ type, text: body }, headers)
      : { status: 200, type, body, headers, form: 'raw' }
  return { name: `${stem}-${hash}.${ending}`, handler: async () => reply }
}

/** Files of all pages, and those of the reference only. */
export type Assets = {
  readonly names: Site['assets']
  readonly reference: { readonly style: string; readonly script: string }
  readonly all: readonly Asset[]
}

/** Styles, scripts and the preview picture of the pages. */
export function pageAssets(): Assets {
  const css = { ending: 'css', type: 'text/css; charset=utf-8' }
  const js = { ending: 'js', type: 'text/javascript; charset=utf-8' }
  const worker = asset('live', js, liveWorkerScript)
  // Each script has a block scope of its own. The file of the worker is beside theirs.
  const live = liveScript.replaceAll('live-worker.js', worker.name)
  const scripts = [copyScript, timesScript, searchScript, live, plotsScript].map(text => `{\n${text}}\n`)
  // General files come before specific ones: of two rules of equal specificity the later one wins.
  const styles = [
    ...[baseStyle, frameStyle, cardsStyle, textsStyle, rowsStyle, formsStyle],
    ...[stackedStyle, figuresStyle, detailsStyle, printStyle],
  ]
  const made = {
    worker,
    style: asset('style', css, styles.join('')),
    script: asset('explorer', js, scripts.join('')),
    theme: asset('theme', js, `{\n${themeScript}}\n`),
    preview: asset('preview', { ending: 'png', type: 'image/png' }, readFileSync(previewPicture)),
  }
  const reference = {
    style: asset('reference', css, referenceStyle),
    script: asset('reference', js, referenceScript),
  }
  const { style, script, theme, preview } = made
  return {
    names: { style: style.name, script: script.name, theme: theme.name, preview: preview.name },
    reference: { style: reference.style.name, script: reference.script.name },
    all: [...Object.values(made), ...Object.values(reference)],
  }
}
