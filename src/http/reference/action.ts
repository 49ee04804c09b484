import { type Action, nameOf } from '#actions/define.ts'
import type { Example } from '#actions/example/choose.ts'
import { type Parameter, parametersOf } from '#actions/request/query.ts'
import { toIso } from '#chain/time.ts'
import { codesOf } from '../codes.ts'
import { routeOf } from '../openapi/action-operation.ts'
import { exampleText } from './example-text.ts'
import { actionForm } from './form.ts'
import { breakable, type Html, html, named, type Part } from './html.ts'
import { type Call, type Sample, samplesOf, urlOf } from './samples.ts'
import { type FieldRow, fieldsOf } from './schema-fields.ts'
import { words } from './text.ts'

export type Lang = 'en' | 'zh'

export type SectionOptions = {
  readonly lang: Lang
  /** A call that has an answer on the served chain; absent: unknown. */
  readonly example: Example | undefined
  /** The service's default response format. */
  readonly format: 'envelope' | 'bare'
}

/** One action of the reference; its anchor is the action's name. */
export const actionSection = (action: Action, { lang, example, format }: SectionOptions): Html => {
  const fields = fieldsOf(action.result)
  const exact = fields.filter(field => field.exact)
  const call = callOf(action, example)
  return html`<article id="${nameOf(action)}"><details>
<summary><h3><code>${action.action}</code> <span>${action.title[lang]}</span></h3></summary>
${exact.length === 0 ? html`` : numbersHint(exact, lang)}
<p>${action.summary[lang]}</p>
<h4>${words.parameters[lang]}</h4>
${parameterList(parametersOf(action.params), lang)}
<h4>${words.tryIt[lang]}</h4>
<p class="call" tabindex="0"><code>GET ${breakable(urlOf(call))}</code></p>
${actionForm(action, { lang, call })}
<h4>${words.answer[lang]}</h4>
${example === undefined ? html`<p>${words.noExample[lang]}</p>` : exampleAnswer(example, { lang, format, action })}
<h4>${words.samples[lang]}</h4>
${samplesOf(call, format).map(sample => sampleBox(sample, lang))}
<h4>${words.fields[lang]}</h4>
${fieldList(fields, lang)}
<h4>${words.errors[lang]}</h4>
${errorLine(action, lang)}
</details></article>
`
}

/** The call of the form, the samples and the example answer. Exact numbers are requested as strings. */
const callOf = (action: Action, example: Example | undefined): Call => ({
  path: routeOf(action),
  query: {
    ...example?.params,
    ...(fieldsOf(action.result).some(({ exact }) => exact) ? { numbers: 'string' } : {}),
  },
})

const numbersHint = (exact: readonly FieldRow[], lang: Lang): Html => {
  const names = [...new Set(exact.map(({ path }) => path.slice(path.lastIndexOf('.') + 1).replace('[]', '')))]
  return html`<p class="hint">${words.numbersHint[lang]}${lang === 'zh' ? '' : ' '}<code>numbers=string</code>${lang === 'zh' ? '。' : '. '}${words.numbersFields[lang]}${lang === 'zh' ? '' : ' '}${named(names, lang)}${lang === 'zh' ? '。' : '.'}</p>`
}

const exampleAnswer = (
  { data, at }: Example,
  { lang, format, action }: Pick<SectionOptions, 'lang' | 'format'> & { readonly action: Action },
): Html => {
  const body = format === 'bare' ? data : `{"code":0,"message":"OK","data":${data}}`
  const { text, isShorter } = exampleText(body)
  return html`<p>${words.answerAt[lang]}${lang === 'zh' ? '' : ' '}<code>X-Block-Height</code> ${at.height}${lang === 'zh' ? '，' : ', '}<code>X-Block-Time</code> ${toIso(at.time)}</p>
<pre class="json" tabindex="0" aria-label="${words.answerTo[lang]} ${action.action}">${text}</pre>
${isShorter ? html`<p><small>${words.shortened[lang]}</small></p>` : html``}`
}

const sampleBox = ({ language, text }: Sample, lang: Lang): Html =>
  html`<details class="sample"><summary>${language}</summary><pre class="sample" tabindex="0" aria-label="${language}">${text}</pre><button type="button" class="copy-text">${words.copy[lang]}</button></details>
`

/** A list of names with their meanings. */
export const definitions = (
  rows: readonly { readonly name: string; readonly note: string; readonly body: Part }[],
): Html =>
  html`<dl class="facts">${rows.map(
    ({ name, note, body }) =>
      html`<div><dt><code>${breakable(name)}</code>${note === '' ? html`` : html` <small>${note}</small>`}</dt><dd>${body}</dd></div>\n`,
  )}</dl>`

const parameterList = (parameters: readonly Parameter[], lang: Lang): Html =>
  parameters.length === 0
    ? html`<p>${words.noParameters[lang]}</p>`
    : definitions(
        parameters.map(({ name, required, word }) => {
          const hasAlias = (word.aliases?.length ?? 0) > 0
          const need = required ? (hasAlias ? words.oneOfTwo : words.required) : words.optional
          return {
            name,
            note: `${word.type}${lang === 'zh' ? '，' : ', '}${need[lang]}`,
            body: meaning(word, lang),
          }
        }),
      )

const meaning = (word: Parameter['word'], lang: Lang): Html => {
  const colon = lang === 'zh' ? '：' : ': '
  const stop = lang === 'zh' ? '。' : '.'
  const note = (head: string, value: string) => html`<br><small>${head}${colon}${value}${stop}</small>`
  return html`${word.description[lang]}${note(words.rule[lang], word.rule[lang])}${
    word.fallback === undefined ? html`` : note(words.otherwise[lang], String(word.fallback))
  }${word.aliases === undefined || word.aliases.length === 0 ? html`` : note(words.alias[lang], word.aliases.join(lang === 'zh' ? '、' : ', '))}`
}

const fieldList = (fields: readonly FieldRow[], lang: Lang): Html =>
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
const errorLine = (action: Action, lang: Lang): Html =>
  html`<p>${words.errorsOfAction[lang]}${lang === 'zh' ? '' : ' '}${codesOf(action).map(
    ({ code, title }, at) =>
      html`${at === 0 ? '' : lang === 'zh' ? '、' : ', '}<a href="#code-${code}" title="${title[lang]}">${code}</a>`,
  )}${lang === 'zh' ? '。' : '.'}</p>`
