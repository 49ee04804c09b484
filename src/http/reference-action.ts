import type { Action } from '#actions/define.ts'
import { type Parameter, parametersOf } from '#actions/request/read.ts'
import { exampleUrl } from './example.ts'
import { type Html, html, table } from './html.ts'
import { words } from './reference-text.ts'
import { fieldsOf } from './schema-fields.ts'

export type Lang = 'en' | 'zh'

/** One action of the reference; its anchor is the action's name. */
export const actionSection = (
  action: Action,
  { lang, testKey }: { readonly lang: Lang; readonly testKey: string | undefined },
): Html => html`<article id="${action.action}">
<h3>${action.action} <small>${action.title[lang]}</small></h3>
<p>${action.summary[lang]}</p>
<p><code>GET ${exampleUrl(action)}</code>${testKey === undefined ? html`` : html` <a href="${exampleUrl(action, testKey)}">${words.tryIt[lang]}</a>`}</p>
<h4>${words.parameters[lang]}</h4>
${parameterTable(parametersOf(action.params), lang)}
<h4>${words.fields[lang]}</h4>
${fieldTable(action, lang)}
</article>
`

const parameterTable = (parameters: readonly Parameter[], lang: Lang): Html =>
  parameters.length === 0
    ? html`<p>${words.noParameters[lang]}</p>`
    : table(
        [words.name[lang], words.type[lang], words.need[lang], words.meaning[lang]],
        parameters.map(({ name, required, word }) => [
          html`<code>${name}</code>`,
          word.type,
          (required ? ((word.aliases?.length ?? 0) > 0 ? words.oneOfTwo : words.yes) : words.no)[lang],
          meaning({ word }, lang),
        ]),
      )

const meaning = ({ word }: Pick<Parameter, 'word'>, lang: Lang): Html => {
  const colon = lang === 'zh' ? '：' : ': '
  const stop = lang === 'zh' ? '。' : '.'
  const note = (head: string, value: string) => html`<br><small>${head}${colon}${value}${stop}</small>`
  return html`${word.description[lang]}${note(words.rule[lang], word.rule[lang])}${
    word.fallback === undefined ? html`` : note(words.otherwise[lang], String(word.fallback))
  }${word.aliases === undefined || word.aliases.length === 0 ? html`` : note(words.alias[lang], word.aliases.join(lang === 'zh' ? '、' : ', '))}`
}

const fieldTable = ({ result }: Action, lang: Lang): Html =>
  table(
    [words.field[lang], words.type[lang], words.meaning[lang]],
    fieldsOf(result).map(({ path, type, optional, exact, description }) => [
      html`<code>${path}</code>`,
      type,
      [description?.[lang] ?? '', optional ? words.sometimes[lang] : '', exact ? words.exact[lang] : '']
        .filter(text => text !== '')
        .join(lang === 'zh' ? '' : ' '),
    ]),
  )
