import type { Action, Text } from '#actions/define.ts'
import { OPTION_TEXTS, OPTION_VALUES, type Options } from '#actions/request/options.ts'
import { codes } from './codes.ts'
import { type Html, html, table } from './html.ts'
import { actionSection, type Lang } from './reference-action.ts'
import { style } from './reference-style.ts'
import { commonParameters, headerTexts, paragraphs, words } from './reference-text.ts'
import { examplePathOf, rpcMethods, templateOf } from './rpc-methods.ts'

export type ReferenceOptions = {
  readonly lang: Lang
  readonly version: string
  /** The shared test key; without it examples are shown and not linked. */
  readonly testKey: string | undefined
}

/** The reference as one HTML page that needs nothing else: from the registry, the codes and the node methods. */
export const referenceFor = (actions: readonly Action[], options: ReferenceOptions): string => {
  const { lang, version } = options
  const other = lang === 'en' ? 'zh' : 'en'
  const sections = [
    ['requests', commonTable(lang)],
    ['answers', html``],
    ['numbers', html``],
    ['lists', html``],
    [
      'headers',
      table(
        [words.header[lang], words.meaning[lang]],
        headerTexts.map(([name, text]) => [html`<code>${name}</code>`, text[lang]]),
      ),
    ],
    ['errors', errorTable(lang)],
    ['actions', html`${actions.map(action => actionSection(action, options))}`],
    ['rpc', rpcTable(options)],
    ['status', html``],
  ] as const
  return html`<!doctype html>
<html lang="${lang === 'en' ? 'en' : 'zh-CN'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${words.title[lang]}</title>
<style>${style}</style>
</head>
<body>
<nav>
<p><a href="/docs/${other}" hreflang="${other}">${words.other[lang]}</a> · <a href="/openapi.json">${words.openapi[lang]}</a></p>
<ul>${sections.map(([name]) => html`<li><a href="#${name}">${words[name][lang]}</a>${name === 'actions' ? contents(actions, lang) : html``}</li>\n`)}</ul>
</nav>
<main>
<h1>${words.title[lang]} <small>${version}</small></h1>
${texts(paragraphs.intro, lang)}
${sections.map(
  ([name, body]) => html`<section id="${name}"><h2>${words[name][lang]}</h2>
${texts(name in paragraphs ? paragraphs[name as keyof typeof paragraphs] : [], lang)}
${body}</section>\n`,
)}
</main>
</body>
</html>
`.text
}

const texts = (of: readonly Text[], lang: Lang): readonly Html[] =>
  of.map(text => html`<p>${text[lang]}</p>\n`)

const contents = (actions: readonly Action[], lang: Lang): Html =>
  html`<ul>${[...new Set(actions.map(({ module }) => module))].map(
    module =>
      html`<li>${module}<ul>${actions
        .filter(action => action.module === module)
        .map(
          ({ action, title }) => html`<li><a href="#${action}" title="${title[lang]}">${action}</a></li>`,
        )}</ul></li>`,
  )}</ul>`

const commonTable = (lang: Lang): Html =>
  table(
    [words.name[lang], words.need[lang], words.meaning[lang]],
    [
      ...commonParameters.map(([name, needed, text]) => [
        html`<code>${name}</code>`,
        needed ? words.yes[lang] : words.no[lang],
        text[lang],
      ]),
      ...(Object.keys(OPTION_VALUES) as (keyof Options)[]).map(name => [
        html`<code>${name}</code>`,
        words.no[lang],
        optionText(name, lang),
      ]),
    ],
  )

const optionText = (name: keyof Options, lang: Lang): string => {
  const text = OPTION_TEXTS[name][lang]
  const values = OPTION_VALUES[name]
  return lang === 'zh'
    ? `${text}${words.values.zh}：${values.join('、')}。`
    : `${text} ${words.values.en}: ${values.join(', ')}.`
}

const errorTable = (lang: Lang): Html => {
  const rows = new Map(Object.values(codes).map(code => [code.code, code] as const))
  return table(
    [words.http[lang], words.code[lang], words.meaning[lang]],
    [...rows.values()]
      .sort((a, b) => a.code - b.code)
      .map(({ status, code, title }) => [status, html`<code id="code-${code}">${code}</code>`, title[lang]]),
  )
}

const rpcTable = ({ lang, testKey }: ReferenceOptions): Html =>
  table(
    [words.path[lang], words.meaning[lang], words.example[lang]],
    rpcMethods.map(method => {
      const path = examplePathOf(method)
      const shown = html`<code>${path}</code>`
      const href = `${path}?${new URLSearchParams({ apikey: testKey ?? '' }).toString()}`
      return [
        html`<code id="${method.name}">${templateOf(method)}</code>`,
        method.title[lang],
        testKey === undefined ? shown : html`<a href="${href}">${shown}</a>`,
      ]
    }),
  )
