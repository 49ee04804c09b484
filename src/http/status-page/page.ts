import { LANGUAGE_TAG } from '#actions/request/options.ts'
import { html } from '../reference/html.ts'
import { style } from '../reference/style.ts'
import { heardText, type ServiceStatus } from './service-status.ts'

type Lang = 'en' | 'zh'

/** The status as one HTML page that needs nothing else; its addresses are relative. */
export const statusPage = (status: ServiceStatus, lang: Lang): string => {
  const { troubles, version } = status
  const [other, otherName] = lang === 'en' ? (['zh', '中文'] as const) : (['en', 'English'] as const)
  const say = (en: string, zh: string): string => (lang === 'en' ? en : zh)
  const title = say('Status', '运行状态')
  return html`<!doctype html>
<html lang="${LANGUAGE_TAG[lang]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>iostlens · ${title}</title>
<link rel="icon" href="favicon.svg" type="image/svg+xml">
<style>${style}</style>
</head>
<body>
<main>
<p><a href="status?lang=${other}" hreflang="${LANGUAGE_TAG[other]}" lang="${LANGUAGE_TAG[other]}">${otherName}</a> · <a href="docs/${lang}">${say('Reference', '参考文档')}</a></p>
<h1>iostlens <small>${version}</small></h1>
<p><strong>${troubles.length === 0 ? say('Everything is in order.', '一切正常。') : say('Something is wrong.', '存在问题。')}</strong></p>
${troubles.map(
  ({ what, help }) => html`<div class="hint"><p><strong>${what[lang]}</strong></p>
<p>${say('What to do', '处理办法')}: ${help[lang]}</p></div>\n`,
)}
<h2>${title}</h2>
<dl>${rows(status, say).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
</main>
</body>
</html>
`.text
}

const rows = (
  { whole, height, time, fresh, blocksPerSecond, since, version }: ServiceStatus,
  say: (en: string, zh: string) => string,
): readonly (readonly [name: string, value: string])[] => {
  const unknown = say('unknown', '未知')
  const seconds = (value: number): string => say(`${Math.round(value)} s`, `${Math.round(value)} 秒`)
  const byNode = (value: string | undefined): string =>
    fresh?.node === 'none'
      ? say('unknown: this service follows no node', '未知：本服务未连接全节点')
      : (value ?? unknown)
  const { lagSeconds = null, behind = null, behindSeconds = null } = fresh ?? {}
  const distance =
    behind === null || behindSeconds === null
      ? undefined
      : `${say(`${behind} blocks, `, `${behind} 个区块，`)}${seconds(behindSeconds)}`
  return [
    [say('Store readable and whole', '存储可读且完整'), whole ? say('yes', '是') : say('NO', '否')],
    [say('Last loaded block', '最后加载的区块'), String(height ?? unknown)],
    [say('Its time', '区块时间'), time ?? unknown],
    [say('Its age', '距今'), lagSeconds === null ? unknown : seconds(lagSeconds)],
    [say('Behind the node', '落后全节点'), byNode(distance)],
    [
      say('Node last heard', '最近一次收到全节点响应'),
      byNode(fresh === null ? undefined : (heardText(fresh) ?? say('never', '从未'))),
    ],
    [say('Blocks per second', '每秒区块数'), String(blocksPerSecond ?? unknown)],
    [say('Serving since', '开始服务时间'), since],
    [say('Version', '版本'), version],
  ]
}
