import type { ApiAction } from '#actions/define.ts'
import { formatActionName } from '#actions/define.ts'
import { EXPORT_FORMATS, OPTION_VALUES } from '#actions/request/options.ts'
import { listParameters, type Parameter } from '#actions/request/query.ts'
import { type Html, html } from './html.ts'
import type { SampleCall } from './samples.ts'
import { words } from './text.ts'

type Lang = 'en' | 'zh'

/** A form that calls the action from the page, filled in with a call that has an answer. */
export const actionForm = (
  action: ApiAction,
  { lang, call }: { readonly lang: Lang; readonly call: SampleCall },
): Html => html`<form class="try" data-path="..${call.path}" autocomplete="off">
<div class="inputs">
${listParameters(action.params).map(parameter => ownInput(parameter, { action, lang, call }))}
${listFormOptions(action).map(([name, values]) =>
  labelled(
    name,
    formatControlId(action, name),
    choice({ name, values, chosen: call.query[name] ?? '' }, formatControlId(action, name)),
  ),
)}
</div>
<p><button type="submit">${words.send[lang]}</button></p>
<div class="answer" role="status"><p></p><pre hidden tabindex="0" aria-label="${words.answerTo[lang]} ${action.action}"></pre></div>
</form>`

/** The options of an action. Only lists have the export formats. */
const listFormOptions = ({ list }: ApiAction): readonly (readonly [name: string, values: readonly string[]])[] =>
  Object.entries(OPTION_VALUES).map(([name, values]) => [
    name,
    name === 'format' && list !== undefined ? [...values, ...EXPORT_FORMATS] : values,
  ])

/** The id of a control, unique even when a parameter and an option have the same name. */
const formatControlId = (action: ApiAction, name: string): string => `${formatActionName(action)}--${name}`

type Within = { readonly action: ApiAction; readonly lang: Lang; readonly call: SampleCall }

function ownInput({ name, required, spec }: Parameter, { action, lang, call }: Within): Html {
  const id = formatControlId(action, name)
  const value = call.query[name] ?? ''
  if (spec.values !== undefined) return labelled(name, id, choice({ name, values: spec.values, chosen: value }, id))
  const hint = spec.fallback === undefined ? '' : String(spec.fallback)
  return labelled(
    `${name}${required ? words.requiredMark[lang] : ''}`,
    id,
    html`<input id="${id}" name="${name}" value="${value}" placeholder="${hint}" spellcheck="false" autocapitalize="none"${required ? html` required` : html``}>`,
  )
}

const labelled = (label: string, id: string, control: Html): Html =>
  html`<p><label for="${id}">${label}</label>${control}</p>\n`

type Choice = { readonly name: string; readonly values: readonly string[]; readonly chosen: string }

/** A select. The empty option omits the parameter. */
const choice = ({ name, values, chosen }: Choice, id: string): Html =>
  html`<select id="${id}" name="${name}"><option value="">–</option>${values.map(
    value => html`<option${value === chosen ? html` selected` : html``}>${value}</option>`,
  )}</select>`
