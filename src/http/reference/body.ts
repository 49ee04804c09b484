import { type ApiAction, formatActionName } from '#actions/define.ts'
import type { Example } from '#actions/example/choose.ts'
import { OPTION_TEXTS, OPTION_VALUES, type OptionDefaults } from '#actions/request/options.ts'
import type { Text } from '#actions/text.ts'
import { codes } from '../codes.ts'
import { formatMethodTemplate, rpcMethods } from '../rpc-methods.ts'
import { actionSection, definitions, type ReferenceLang } from './action.ts'
import { guideArticles } from './guides.ts'
import { type Html, html, table } from './html.ts'
import { commonParameters, headerTexts, paragraphs, words } from './text.ts'

export type ReferenceOptions = {
  readonly lang: ReferenceLang
  readonly version: string
  /** The shared test key, with which the forms are filled in. */
  readonly testKey: string | undefined
  readonly defaults: OptionDefaults
  /** Calls that have an answer on the served chain. */
  readonly examples: ReadonlyMap<ApiAction, Example>
}

/**
 * The reference below the head of its page, made from the registry, the codes and the node methods. Its links
 * are relative.
 */
export function referenceBody(actions: readonly ApiAction[], options: ReferenceOptions): Html {
  const { lang, version, testKey } = options
  const sections = buildSections(actions, options)
  const said = ['copied', 'needKey', 'sending', 'failed', 'cut', 'found'] as const
  return html`<div class="book">
<nav class="contents" aria-label="${words.contents[lang]}">
<p><label for="find">${words.search[lang]}</label><input id="find" type="search" autocomplete="off" spellcheck="false"></p>
<p id="found" role="status"></p>
<ul>${sections.map(([name]) => html`<li><a href="#${name}">${words[name][lang]}</a>${name === 'actions' ? contents(actions, lang) : html``}</li>\n`)}</ul>
</nav>
<main id="main"${said.map(name => html` data-${name.replace(/[A-Z]/, letter => `-${letter.toLowerCase()}`)}="${words[name][lang]}"`)}>
<h1>${words.title[lang]} <small>${version}</small></h1>
${texts(paragraphs.intro, lang)}
<p><a href="../openapi.json">${words.openapi[lang]}</a></p>
<p class="key"><label for="key">${words.key[lang]}</label><input id="key" type="text" autocomplete="off" spellcheck="false" aria-describedby="key-note" value="${testKey ?? ''}"></p>
<p id="key-note"><small>${words.keyNote[lang]}</small></p>
${sections.map(([name, body]) => section(name, body, lang))}
</main>
</div>
`
}

type Section = Exclude<keyof typeof paragraphs, 'intro'> | 'guides' | 'headers' | 'actions'

function buildSections(
  actions: readonly ApiAction[],
  options: ReferenceOptions,
): readonly (readonly [name: Section, body: Html])[] {
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

/** Sections of text can be collapsed. Guides and actions are always visible, and each of them can be collapsed. */
function section(name: Section, body: Html, lang: ReferenceLang): Html {
  const inner = html`${texts(name in paragraphs ? paragraphs[name as keyof typeof paragraphs] : [], lang)}
${body}`
  return name === 'actions' || name === 'guides'
    ? html`<section class="card" id="${name}"><h2>${words[name][lang]}</h2>
${inner}</section>\n`
    : html`<section class="card folded" id="${name}" data-find><details><summary><h2>${words[name][lang]}</h2></summary>
${inner}</details></section>\n`
}

const texts = (of: readonly Text[], lang: ReferenceLang): readonly Html[] =>
  of.map(text => html`<p>${text[lang]}</p>\n`)

const contents = (actions: readonly ApiAction[], lang: ReferenceLang): Html =>
  html`<ul>${[...new Set(actions.map(({ module }) => module))].map(
    module =>
      html`<li>${module}<ul>${actions
        .filter(action => action.module === module)
        .map(
          action =>
            html`<li><a href="#${formatActionName(action)}" title="${action.title[lang]}">${action.action}</a></li>`,
        )}</ul></li>`,
  )}</ul>`

const commonList = (lang: ReferenceLang): Html =>
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

function optionText(name: keyof typeof OPTION_VALUES, lang: ReferenceLang): string {
  const text = OPTION_TEXTS[name][lang]
  const values = OPTION_VALUES[name]
  return lang === 'zh'
    ? `${text}${words.values.zh}：${values.join('、')}。`
    : `${text} ${words.values.en}: ${values.join(', ')}.`
}

function errorTable(lang: ReferenceLang): Html {
  const rows = new Map(Object.values(codes).map(code => [code.code, code] as const))
  return table(
    [words.http[lang], words.code[lang], words.meaning[lang]],
    [...rows.values()]
      .sort((a, b) => a.code - b.code)
      .map(({ status, code, title }) => [status, html`<code id="code-${code}">${code}</code>`, title[lang]]),
  )
}

const rpcList = (lang: ReferenceLang): Html =>
  definitions(rpcMethods.map(method => ({ name: formatMethodTemplate(method), note: '', body: method.title[lang] })))
