import { type Action, nameOf } from '#actions/define.ts'
import type { Example } from '#actions/example/choose.ts'
import { LANGUAGE_TAG, OPTION_TEXTS, OPTION_VALUES, type OptionDefaults } from '#actions/request/options.ts'
import type { Text } from '#actions/text.ts'
import { codes } from '../codes.ts'
import { rpcMethods, templateOf } from '../rpc-methods.ts'
import { actionSection, definitions, type Lang } from './action.ts'
import { guideArticles } from './guides.ts'
import { type Html, html, table } from './html.ts'
import { script } from './script.ts'
import { style } from './style.ts'
import { commonParameters, headerTexts, paragraphs, words } from './text.ts'

export type ReferenceOptions = {
  readonly lang: Lang
  readonly version: string
  /** The shared test key; the forms begin with it. */
  readonly testKey: string | undefined
  readonly defaults: OptionDefaults
  /** Calls that have an answer on the served chain. */
  readonly examples: ReadonlyMap<Action, Example>
}

/**
 * The reference as one HTML page that needs nothing else: from the registry, the codes and the node methods. Its
 * addresses are relative, so that it works behind any path.
 */
export const referenceFor = (actions: readonly Action[], options: ReferenceOptions): string => {
  const { lang, version, testKey } = options
  const other = lang === 'en' ? 'zh' : 'en'
  const sections = sectionsOf(actions, options)
  const said = ['copied', 'needKey', 'sending', 'failed', 'cut', 'found'] as const
  return html`<!doctype html>
<html lang="${LANGUAGE_TAG[lang]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${paragraphs.intro[0]?.[lang] ?? ''}">
<title>${words.title[lang]}</title>
<link rel="icon" href="../favicon.svg" type="image/svg+xml">
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main">${words.skip[lang]}</a>
<nav aria-label="${words.contents[lang]}">
<p><a href="${other}" hreflang="${LANGUAGE_TAG[other]}" lang="${LANGUAGE_TAG[other]}">${words.other[lang]}</a> · <a href="../openapi.json">${words.openapi[lang]}</a></p>
<p><label for="find">${words.search[lang]}</label><input id="find" type="search" autocomplete="off" spellcheck="false"></p>
<p id="found" role="status"></p>
<ul>${sections.map(([name]) => html`<li><a href="#${name}">${words[name][lang]}</a>${name === 'actions' ? contents(actions, lang) : html``}</li>\n`)}</ul>
</nav>
<main id="main"${said.map(name => html` data-${name.replace(/[A-Z]/, letter => `-${letter.toLowerCase()}`)}="${words[name][lang]}"`)}>
<h1>${words.title[lang]} <small>${version}</small></h1>
${texts(paragraphs.intro, lang)}
<p><label for="key">${words.key[lang]}</label><input id="key" type="text" autocomplete="off" spellcheck="false" aria-describedby="key-note" value="${testKey ?? ''}"></p>
<p id="key-note"><small>${words.keyNote[lang]}</small></p>
${sections.map(([name, body]) => section(name, body, lang))}
</main>
<script>${script}</script>
</body>
</html>
`.text
}

type Section = Exclude<keyof typeof paragraphs, 'intro'> | 'guides' | 'headers' | 'actions'

const sectionsOf = (
  actions: readonly Action[],
  options: ReferenceOptions,
): readonly (readonly [name: Section, body: Html])[] => {
  const { lang, examples, defaults } = options
  return [
    ['guides', guideArticles(actions, examples, lang)],
    ['requests', commonList(lang)],
    ['answers', html``],
    ['numbers', html``],
    ['lists', html``],
    ['headers', definitions(headerTexts.map(([name, text]) => ({ name, note: '', body: text[lang] })))],
    ['errors', errorTable(lang)],
    [
      'actions',
      html`${actions.map(action =>
        actionSection(action, { lang, format: defaults.format, example: examples.get(action) }),
      )}`,
    ],
    ['rpc', rpcList(lang)],
    ['status', html``],
  ]
}

/** Texts unfold; guides and actions are there at once, each of which unfolds. */
const section = (name: Section, body: Html, lang: Lang): Html => {
  const inner = html`${texts(name in paragraphs ? paragraphs[name as keyof typeof paragraphs] : [], lang)}
${body}`
  return name === 'actions' || name === 'guides'
    ? html`<section id="${name}"><h2>${words[name][lang]}</h2>
${inner}</section>\n`
    : html`<section id="${name}" data-find><details><summary><h2>${words[name][lang]}</h2></summary>
${inner}</details></section>\n`
}

const texts = (of: readonly Text[], lang: Lang): readonly Html[] =>
  of.map(text => html`<p>${text[lang]}</p>\n`)

const contents = (actions: readonly Action[], lang: Lang): Html =>
  html`<ul>${[...new Set(actions.map(({ module }) => module))].map(
    module =>
      html`<li>${module}<ul>${actions
        .filter(action => action.module === module)
        .map(
          action =>
            html`<li><a href="#${nameOf(action)}" title="${action.title[lang]}">${action.action}</a></li>`,
        )}</ul></li>`,
  )}</ul>`

const commonList = (lang: Lang): Html =>
  definitions([
    ...commonParameters.map(([name, needed, text]) => ({
      name,
      note: (needed ? words.required : words.optional)[lang],
      body: text[lang],
    })),
    ...(Object.keys(OPTION_VALUES) as (keyof typeof OPTION_VALUES)[]).map(name => ({
      name,
      note: words.optional[lang],
      body: optionText(name, lang),
    })),
  ])

const optionText = (name: keyof typeof OPTION_VALUES, lang: Lang): string => {
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

const rpcList = (lang: Lang): Html =>
  definitions(rpcMethods.map(method => ({ name: templateOf(method), note: '', body: method.title[lang] })))
