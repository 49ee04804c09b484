import { type ApiAction, formatActionName } from '#actions/define.ts'
import type { Example } from '#actions/example/choose.ts'
import { listParameters, type Parameter } from '#actions/request/query.ts'
import { toIso } from '#chain/time.ts'
import { listCodes } from '../codes.ts'
import { formatRoute } from '../openapi/action-operation.ts'
import { exampleText } from './example-text.ts'
import { actionForm } from './form.ts'
import { breakable, type Html, type HtmlPart, html, named } from './html.ts'
import { buildSamples, type CodeSample, formatCallUrl, type SampleCall } from './samples.ts'
import { type FieldRow, listFieldRows } from './schema-fields.ts'
import { words } from './text.ts'

export type ReferenceLang = 'en' | 'zh'

export type SectionOptions = {
  readonly lang: ReferenceLang
  /** A call that has an answer on the served chain; absent: unknown. */
  readonly example: Example | undefined
  /** The service's default response format. */
  readonly format: 'envelope' | 'bare'
}

/** One action of the reference; its anchor is the action's name. */
export function actionSection(action: ApiAction, { lang, example, format }: SectionOptions): Html {
  const fields = listFieldRows(action.result)
  const exact = fields.filter(field => field.exact)
  const call = buildExampleCall(action, example)
  return html`<article id="${formatActionName(action)}"><details>
<summary><h3><code>${action.action}</code> <span>${action.title[lang]}</span></h3></summary>
${exact.length === 0 ? html`` : numbersHint(exact, lang)}
<p>${action.summary[lang]}</p>
<h4>${words.parameters[lang]}</h4>
${parameterList(listParameters(action.params), lang)}
<h4>${words.tryIt[lang]}</h4>
<p class="call" tabindex="0"><code>GET ${breakable(formatCallUrl(call))}</code></p>
${actionForm(action, { lang, call })}
<h4>${words.answer[lang]}</h4>
${example === undefined ? html`<p>${words.noExample[lang]}</p>` : exampleAnswer(example, { lang, format, action })}
<h4>${words.samples[lang]}</h4>
${buildSamples(call, format).map(sample => sampleBox(sample, lang))}
<h4>${words.fields[lang]}</h4>
${fieldList(fields, lang)}
<h4>${words.errors[lang]}</h4>
${errorLine(action, lang)}
</details></article>
`
}

/** The call of the form, the samples and the example answer. Exact numbers are requested as strings. */
const buildExampleCall = (action: ApiAction, example: Example | undefined): SampleCall => ({
  path: formatRoute(action),
  query: {
    ...example?.params,
    ...(listFieldRows(action.result).some(({ exact }) => exact) ? { numbers: 'string' } : {}),
  },
})

function numbersHint(exact: readonly FieldRow[], lang: ReferenceLang): Html {
  const names = [...new Set(exact.map(({ path }) => path.slice(path.lastIndexOf('.') + 1).replace('[]', '')))]
  return html`<p class="hint">${words.numbersHint[lang]}${lang === 'zh' ? '' : ' '}<code>numbers=string</code>${lang === 'zh' ? '。' : '. '}${words.numbersFields[lang]}${lang === 'zh' ? '' : ' '}${named(names, lang)}${lang === 'zh' ? '。' : '.'}</p>`
}

function exampleAnswer(
  { data, at }: Example,
  { lang, format, action }: Pick<SectionOptions, 'lang' | 'format'> & { readonly action: ApiAction },
): Html {
  const body = format === 'bare' ? data : `{"code":0,"message":"OK","data":${data}}`
  const { text, isShorter } = exampleText(body)
  return html`<p>${words.answerAt[lang]}${lang === 'zh' ? '' : ' '}<code>X-Block-Height</code> ${at.height}${lang === 'zh' ? '，' : ', '}<code>X-Block-Time</code> ${toIso(at.time)}</p>
<pre class="json" tabindex="0" aria-label="${words.answerTo[lang]} ${action.action}">${text}</pre>
${isShorter ? html`<p><small>${words.shortened[lang]}</small></p>` : html``}`
}

const sampleBox = ({ language, text }: CodeSample, lang: ReferenceLang): Html =>
  html`<details class="sample"><summary>${language}</summary><pre class="sample" tabindex="0" aria-label="${language}">${text}</pre><button type="button" class="copy-text">${words.copy[lang]}</button></details>
`

/** A list of names with their meanings. */
export const definitions = (
  rows: readonly { readonly name: string; readonly note: string; readonly body: HtmlPart }[],
): Html =>
  html`<dl class="facts">${rows.map(
    ({ name, note, body }) =>
      html`<div><dt><code>${breakable(name)}</code>${note === '' ? html`` : html` <small>${note}</small>`}</dt><dd>${body}</dd></div>\n`,
  )}</dl>`

const parameterList = (parameters: readonly Parameter[], lang: ReferenceLang): Html =>
  parameters.length === 0
    ? html`<p>${words.noParameters[lang]}</p>`
    : definitions(
        parameters.map(({ name, required, spec }) => {
          const hasAlias = (spec.aliases?.length ?? 0) > 0
          const need = required ? (hasAlias ? words.oneOfTwo : words.required) : words.optional
          return {
            name,
            note: `${spec.type}${lang === 'zh' ? '，' : ', '}${need[lang]}`,
            body: meaning(spec, lang),
          }
        }),
      )

function meaning(spec: Parameter['spec'], lang: ReferenceLang): Html {
  const colon = lang === 'zh' ? '：' : ': '
  const stop = lang === 'zh' ? '。' : '.'
  const note = (head: string, value: string) => html`<br><small>${head}${colon}${value}${stop}</small>`
  return html`${spec.description[lang]}${note(words.rule[lang], spec.rule[lang])}${
    spec.fallback === undefined ? html`` : note(words.otherwise[lang], String(spec.fallback))
  }${spec.aliases === undefined || spec.aliases.length === 0 ? html`` : note(words.alias[lang], spec.aliases.join(lang === 'zh' ? '、' : ', '))}`
}

const fieldList = (fields: readonly FieldRow[], lang: ReferenceLang): Html =>
  definitions(
    fields.map(({ path, type, optional, exact, description }) => ({
      name: path,
      note: type,
      body: [description?.[lang] ?? '', optional ? words.sometimes[lang] : '', exact ? words.exact[lang] : '']
        .filter(text => text !== '')
        .join(lang === 'zh' ? '' : ' '),
    })),
  )

/** The failures of the action, by code. */
const errorLine = (action: ApiAction, lang: ReferenceLang): Html =>
  html`<p>${words.errorsOfAction[lang]}${lang === 'zh' ? '' : ' '}${listCodes(action).map(
    ({ code, title }, at) =>
      html`${at === 0 ? '' : lang === 'zh' ? '、' : ', '}<a href="#code-${code}" title="${title[lang]}">${code}</a>`,
  )}${lang === 'zh' ? '。' : '.'}</p>`
