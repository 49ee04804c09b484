import type { TSchema } from '@sinclair/typebox'
import { type ApiAction, formatActionName, type Text } from '#actions/define.ts'
import type { Example } from '#actions/example/choose.ts'
import { EXPORT_FORMATS, OPTION_VALUES } from '#actions/request/options.ts'
import { listParameters, type Parameter } from '#actions/request/query.ts'
import { EXACT, findDescription } from '#actions/shape/results.ts'
import { Exact, type ExactJson, parseExact, writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import type { Lang } from '#explorer/page.ts'
import { listCodes } from '../codes.ts'
import { formatRoute } from '../openapi/action-operation.ts'
import { prettyJson } from './script.ts'
import { words } from './text.ts'

/** Escapes a text for any place in HTML, including attributes in double quotes. */
const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/** HTML that is already escaped. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type HtmlPart = string | number | Html | readonly Html[]

/** A template whose parts are escaped unless they are Html. */
export function html(fixed: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const written = parts.map(part => {
    if (part instanceof Html) return part.text
    return typeof part === 'object' ? part.map(({ text }) => text).join('') : escapeHtml(String(part))
  })
  return new Html(fixed.map((text, place) => text + (written[place] ?? '')).join(''))
}

/** A name or an address that may break after its dots, slashes, commas and query separators, and nowhere else. */
export const allowBreaks = (text: string): Html =>
  new Html(escapeHtml(text).replaceAll(/\.(?=[a-z{])|\/(?=[^/])|[?]|, |&amp;/g, mark => `${mark}<wbr>`))

/** Names separated by commas. */
const joinNames = (names: readonly string[], lang: Lang): readonly Html[] =>
  names.map((name, at) => html`${at === 0 ? '' : lang === 'zh' ? '、' : ', '}<code>${name}</code>`)

/** Placeholder of the service's address, which the page's script replaces. */
const SERVICE = 'SERVICE_URL'
/** Placeholder of the caller's key. A key is never in a URL, since URLs are logged and passed on. */
const KEY = 'YOUR_API_KEY'

/** A call of an action: its path relative to the service's address, and its query. */
type SampleCall = { readonly path: string; readonly query: Readonly<Record<string, string>> }

/** The path with its query, encoded like a browser does. */
function formatCallUrl({ path, query }: SampleCall): string {
  const text = new URLSearchParams(query).toString()
  return text === '' ? path : `${path}?${text}`
}

export const formatCurl = (call: SampleCall): string => `curl -H 'X-API-Key: ${KEY}' '${SERVICE}${formatCallUrl(call)}'`

/** A program that makes a call and prints `data`. `format` is the service's default, for a query without one. */
function formatTypescript({ path, query }: SampleCall, format: 'envelope' | 'bare'): string {
  const names = Object.entries(query).map(([name, text]) => `  ${name}: ${JSON.stringify(text)},\n`)
  const address = names.length === 0 ? `'${SERVICE}${path}'` : `\`${SERVICE}${path}?\${query}\``
  return `${names.length === 0 ? '' : `const query = new URLSearchParams({\n${names.join('')}})\n`}const response = await fetch(${address}, {
  headers: { 'X-API-Key': '${KEY}' },
})
const answer = await response.json()
if (!response.ok) throw new Error(answer.message)
console.log(${format === 'bare' ? 'answer' : 'answer.data'})
`
}

function formatPython({ path, query }: SampleCall, format: 'envelope' | 'bare'): string {
  const names = Object.entries(query).map(([name, text]) => `    ${JSON.stringify(name)}: ${JSON.stringify(text)},\n`)
  const isPlain = names.length === 0
  return `import json
${isPlain ? '' : 'from urllib.parse import urlencode\n'}from urllib.request import Request, urlopen

${isPlain ? '' : `query = urlencode({\n${names.join('')}})\n`}request = Request(
    "${SERVICE}${path}"${isPlain ? '' : ' + "?" + query'},
    headers={"X-API-Key": "${KEY}"},
)
with urlopen(request) as response:
    answer = json.load(response)
print(${format === 'bare' ? 'answer' : 'answer["data"]'})
`
}

type FieldRow = {
  /** A path such as `transactions[].tx_hash`. `{}` is any key of an object that is a map. */
  readonly path: string
  readonly type: string
  readonly optional: boolean
  /** Whether `numbers=string` makes the field a string. */
  readonly exact: boolean
  readonly description: Text | undefined
}

/** The fields of an answer, including those of nested objects and lists, in the order of the schema. */
export function listFieldRows(schema: TSchema, prefix = ''): readonly FieldRow[] {
  return listVariants(schema).flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([name, field]) => {
      const path = `${prefix}${name}`
      const variants = listVariants(field)
      const { items, patternProperties = {} }: Inside = field
      const [entry] = Object.values(patternProperties)
      const [nested, mark] = items !== undefined ? [items, '[]'] : entry !== undefined ? [entry, '.{}'] : [field, '']
      const row = {
        path,
        type: [...new Set(variants.map(({ type = 'any' }) => type))].join(' | '),
        optional: !required.includes(name),
        exact: variants.some(variant => variant[EXACT] === true),
        description: findDescription(field),
      }
      return [row, ...listFieldRows(nested, `${path}${mark}.`)]
    }),
  )
}

/** The keywords of JSON Schema that the field words of `results.ts` use. */
type Inside = TSchema & {
  readonly type?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly items?: TSchema
  readonly patternProperties?: Readonly<Record<string, TSchema>>
  readonly anyOf?: readonly TSchema[]
}

function listVariants(schema: TSchema): readonly Inside[] {
  const { anyOf = [schema] }: Inside = schema
  return anyOf
}

/** Maximum lines of an example answer on a page. */
const MAX_LINES = 60
/** Rows to keep when there are too many: the largest number that fits. */
const ROWS = [20, 10, 5, 3, 2, 1]
/** Maximum length of a text. Contracts and their code are of any length. */
const MAX_LETTERS = 200

/**
 * A formatted JSON text to show: valid JSON, complete except for rows and the ends of long texts. If it has more than
 * `MAX_LINES`, each list is limited to the same number of first rows, so that the fields after it, such as page, size and
 * total, are shown as well.
 */
export function exampleText(json: string): { readonly text: string; readonly isShorter: boolean } {
  const whole = parseExact(json)
  let text = ''
  for (const rows of [Number.POSITIVE_INFINITY, ...ROWS]) {
    text = prettyJson(writeJson(withRows(whole, rows)))
    if (text.split('\n').length <= MAX_LINES) break
  }
  return { text, isShorter: text !== prettyJson(json) }
}

function withRows(value: ExactJson, rows: number): ExactJson {
  if (typeof value === 'string')
    return value.length > MAX_LETTERS ? `${value.slice(0, MAX_LETTERS).toWellFormed()}…` : value
  if (value === null || typeof value !== 'object' || value instanceof Exact) return value
  if (isList(value)) return value.slice(0, rows).map(each => withRows(each, rows))
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withRows(each, rows)]))
}

/** `Array.isArray` alone makes the items of a readonly list `any`. */
const isList = (value: object): value is readonly ExactJson[] => Array.isArray(value)

/** A form that calls the action from the page, filled in with a call that has an answer. */
const actionForm = (
  action: ApiAction,
  { lang, call }: { readonly lang: Lang; readonly call: SampleCall },
): Html => html`<form class="try" data-path="..${call.path}" autocomplete="off">
<div class="inputs">
${listParameters(action.params).map(parameter => renderInput(parameter, { action, lang, call }))}
${Object.entries(OPTION_VALUES).map(([name, own]) => {
  const id = formatControlId(action, name)
  // Only lists have the export formats.
  const values = name === 'format' && action.list !== undefined ? [...own, ...EXPORT_FORMATS] : own
  return renderLabelled(name, id, renderSelect({ name, values, chosen: call.query[name] ?? '' }, id))
})}
</div>
<p><button type="submit">${words.send[lang]}</button></p>
<div class="answer" role="status"><p></p><pre hidden tabindex="0" aria-label="${words.answerTo[lang]} ${action.action}"></pre></div>
</form>`

/** The id of a control, unique even when a parameter and an option have the same name. */
const formatControlId = (action: ApiAction, name: string): string => `${formatActionName(action)}--${name}`

function renderInput(
  { name, required, spec }: Parameter,
  { action, lang, call }: { readonly action: ApiAction; readonly lang: Lang; readonly call: SampleCall },
): Html {
  const id = formatControlId(action, name)
  const value = call.query[name] ?? ''
  if (spec.values !== undefined)
    return renderLabelled(name, id, renderSelect({ name, values: spec.values, chosen: value }, id))
  const hint = spec.fallback === undefined ? '' : String(spec.fallback)
  return renderLabelled(
    `${name}${required ? words.requiredMark[lang] : ''}`,
    id,
    html`<input id="${id}" name="${name}" value="${value}" placeholder="${hint}" spellcheck="false" autocapitalize="none"${required ? html` required` : html``}>`,
  )
}

const renderLabelled = (label: string, id: string, control: Html): Html =>
  html`<p><label for="${id}">${label}</label>${control}</p>\n`

/** A select. The empty option omits the parameter. */
const renderSelect = (
  { name, values, chosen }: { readonly name: string; readonly values: readonly string[]; readonly chosen: string },
  id: string,
): Html =>
  html`<select id="${id}" name="${name}"><option value="">–</option>${values.map(
    value => html`<option${value === chosen ? html` selected` : html``}>${value}</option>`,
  )}</select>`

type SectionOptions = {
  readonly lang: Lang
  /** A call that has an answer on the served chain; absent: unknown. */
  readonly example: Example | undefined
  /** The service's default response format. */
  readonly format: 'envelope' | 'bare'
}

/** One action of the reference; its anchor is the action's name. */
export function actionSection(action: ApiAction, { lang, example, format }: SectionOptions): Html {
  const fields = listFieldRows(action.result)
  const exact = fields.filter(field => field.exact)
  // Exact numbers are requested as strings.
  const query = { ...example?.params, ...(exact.length > 0 ? { numbers: 'string' } : {}) }
  const call = { path: formatRoute(action), query }
  const samples = [
    ['curl', formatCurl(call)],
    ['TypeScript', formatTypescript(call, format)],
    ['Python', formatPython(call, format)],
  ] as const
  return html`<article id="${formatActionName(action)}"><details>
<summary><h3><code>${action.action}</code> <span>${action.title[lang]}</span></h3></summary>
${exact.length === 0 ? html`` : numbersHint(exact, lang)}
<p>${action.summary[lang]}</p>
<h4>${words.parameters[lang]}</h4>
${parameterList(listParameters(action.params), lang)}
<h4>${words.tryIt[lang]}</h4>
<p class="call" tabindex="0"><code>GET ${allowBreaks(formatCallUrl(call))}</code></p>
${actionForm(action, { lang, call })}
<h4>${words.answer[lang]}</h4>
${example === undefined ? html`<p>${words.noExample[lang]}</p>` : exampleAnswer(example, { lang, format, action })}
<h4>${words.samples[lang]}</h4>
${samples.map(
  ([language, text]) =>
    html`<details class="sample"><summary>${language}</summary><pre class="sample" tabindex="0" aria-label="${language}">${text}</pre><button type="button" class="copy-text">${words.copy[lang]}</button></details>
`,
)}
<h4>${words.fields[lang]}</h4>
${definitions(
  fields.map(({ path, type, optional, exact: isExact, description }) => ({
    name: path,
    note: type,
    body: [description?.[lang] ?? '', optional ? words.sometimes[lang] : '', isExact ? words.exact[lang] : '']
      .filter(text => text !== '')
      .join(words.space[lang]),
  })),
)}
<h4>${words.errors[lang]}</h4>
<p>${words.errorsOfAction[lang]}${words.space[lang]}${listCodes(action).map(
    ({ code, title }, at) =>
      html`${at === 0 ? '' : words.enumeration[lang]}<a href="#code-${code}" title="${title[lang]}">${code}</a>`,
  )}${words.stop[lang]}</p>
</details></article>
`
}

function numbersHint(exact: readonly FieldRow[], lang: Lang): Html {
  const names = [...new Set(exact.map(({ path }) => path.slice(path.lastIndexOf('.') + 1).replace('[]', '')))]
  return html`<p class="hint">${words.numbersHint[lang]}${words.space[lang]}<code>numbers=string</code>${words.stop[lang]}${words.space[lang]}${words.numbersFields[lang]}${words.space[lang]}${joinNames(names, lang)}${words.stop[lang]}</p>`
}

function exampleAnswer(
  { data, at }: Example,
  { lang, format, action }: Pick<SectionOptions, 'lang' | 'format'> & { readonly action: ApiAction },
): Html {
  const body = format === 'bare' ? data : `{"code":0,"message":"OK","data":${data}}`
  const { text, isShorter } = exampleText(body)
  return html`<p>${words.answerAt[lang]}${words.space[lang]}<code>X-Block-Height</code> ${at.height}${words.comma[lang]}<code>X-Block-Time</code> ${toIso(at.time)}</p>
<pre class="json" tabindex="0" aria-label="${words.answerTo[lang]} ${action.action}">${text}</pre>
${isShorter ? html`<p><small>${words.shortened[lang]}</small></p>` : html``}`
}

/** A list of names with their meanings. */
export const definitions = (
  rows: readonly { readonly name: string; readonly note: string; readonly body: HtmlPart }[],
): Html =>
  html`<dl class="facts">${rows.map(
    ({ name, note, body }) =>
      html`<div><dt><code>${allowBreaks(name)}</code>${note === '' ? html`` : html` <small>${note}</small>`}</dt><dd>${body}</dd></div>\n`,
  )}</dl>`

const parameterList = (parameters: readonly Parameter[], lang: Lang): Html =>
  parameters.length === 0
    ? html`<p>${words.noParameters[lang]}</p>`
    : definitions(
        parameters.map(({ name, required, spec }) => {
          const hasAlias = (spec.aliases?.length ?? 0) > 0
          const need = required ? (hasAlias ? words.oneOfTwo : words.required) : words.optional
          return {
            name,
            note: `${spec.type}${words.comma[lang]}${need[lang]}`,
            body: renderMeaning(spec, lang),
          }
        }),
      )

function renderMeaning(spec: Parameter['spec'], lang: Lang): Html {
  const note = (head: string, value: string) =>
    html`<br><small>${head}${words.colon[lang]}${value}${words.stop[lang]}</small>`
  return html`${spec.description[lang]}${note(words.rule[lang], spec.rule[lang])}${
    spec.fallback === undefined ? html`` : note(words.otherwise[lang], String(spec.fallback))
  }${spec.aliases === undefined || spec.aliases.length === 0 ? html`` : note(words.alias[lang], spec.aliases.join(words.enumeration[lang]))}`
}
