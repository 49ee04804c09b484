import { LANGUAGE_TAG } from '#actions/request/options.ts'
import { html } from '../reference/html.ts'
import { style } from '../reference/style.ts'
import type { Standing } from './standing.ts'

type Lang = 'en' | 'zh'

const WORDS = {
  title: { en: 'Status', zh: '运行状态' },
  good: { en: 'Everything is in order.', zh: '一切正常。' },
  bad: { en: 'Something is wrong.', zh: '存在问题。' },
  todo: { en: 'What to do', zh: '处理办法' },
  other: { en: '中文', zh: 'English' },
  docs: { en: 'Reference', zh: '参考文档' },
  unknown: { en: 'unknown', zh: '未知' },
  noNode: { en: 'unknown: this service follows no node', zh: '未知：本服务未连接全节点' },
  never: { en: 'never', zh: '从未' },
  whole: { en: 'Store readable and whole', zh: '存储可读且完整' },
  height: { en: 'Last loaded block', zh: '最后加载的区块' },
  time: { en: 'Its time', zh: '区块时间' },
  lag: { en: 'Its age', zh: '距今' },
  behind: { en: 'Behind the node', zh: '落后全节点' },
  heard: { en: 'Node last heard', zh: '最近一次收到全节点响应' },
  pace: { en: 'Blocks per second', zh: '每秒区块数' },
  since: { en: 'Serving since', zh: '开始服务时间' },
  version: { en: 'Version', zh: '版本' },
  yes: { en: 'yes', zh: '是' },
  no: { en: 'NO', zh: '否' },
} as const

/** The status as one HTML page that needs nothing else; its addresses are relative. */
export const statusPage = (standing: Standing, lang: Lang): string => {
  const { troubles, version } = standing
  const other = lang === 'en' ? 'zh' : 'en'
  const say = (word: keyof typeof WORDS): string => WORDS[word][lang]
  return html`<!doctype html>
<html lang="${LANGUAGE_TAG[lang]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>iostlens · ${say('title')}</title>
<link rel="icon" href="favicon.svg" type="image/svg+xml">
<style>${style}</style>
</head>
<body>
<main>
<p><a href="status?lang=${other}" hreflang="${LANGUAGE_TAG[other]}" lang="${LANGUAGE_TAG[other]}">${say('other')}</a> · <a href="docs/${lang}">${say('docs')}</a></p>
<h1>iostlens <small>${version}</small></h1>
<p><strong>${troubles.length === 0 ? say('good') : say('bad')}</strong></p>
${troubles.map(
  ({ what, help }) => html`<div class="hint"><p><strong>${what[lang]}</strong></p>
<p>${say('todo')}: ${help[lang]}</p></div>\n`,
)}
<h2>${say('title')}</h2>
<dl>${rows(standing, lang).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
</main>
</body>
</html>
`.text
}

const rows = (standing: Standing, lang: Lang): readonly (readonly [string, string])[] => {
  const { whole, height, time, fresh, blocksPerSecond, since, version } = standing
  const say = (word: keyof typeof WORDS): string => WORDS[word][lang]
  const known = (value: string | number | null | undefined): string =>
    value === null || value === undefined ? say('unknown') : String(value)
  return [
    [say('whole'), whole ? say('yes') : say('no')],
    [say('height'), known(height)],
    [say('time'), known(time)],
    [say('lag'), seconds(fresh?.lagSeconds, lang) ?? say('unknown')],
    [say('behind'), behindText(standing, lang)],
    [say('heard'), heardText(standing, lang)],
    [say('pace'), known(blocksPerSecond)],
    [say('since'), since],
    [say('version'), version],
  ]
}

const seconds = (value: number | null | undefined, lang: Lang): string | undefined => {
  if (value === null || value === undefined) return undefined
  return lang === 'en' ? `${Math.round(value)} s` : `${Math.round(value)} 秒`
}

const behindText = ({ fresh }: Standing, lang: Lang): string => {
  if (fresh?.node === 'none') return WORDS.noNode[lang]
  const time = seconds(fresh?.behindSeconds, lang)
  if (fresh === null || fresh.behind === null || time === undefined) return WORDS.unknown[lang]
  return lang === 'en' ? `${fresh.behind} blocks, ${time}` : `${fresh.behind} 个区块，${time}`
}

const heardText = ({ fresh }: Standing, lang: Lang): string => {
  if (fresh?.node === 'none') return WORDS.noNode[lang]
  if (fresh === null) return WORDS.unknown[lang]
  return fresh.heardAt === null ? WORDS.never[lang] : new Date(fresh.heardAt).toISOString()
}
