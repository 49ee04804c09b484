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

export type HtmlPart = string | number | Html | readonly Html[]

/** A template whose parts are escaped unless they are Html. */
export const html = (fixed: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html =>
  new Html(fixed.map((text, place) => text + written(parts[place] ?? '')).join(''))

function written(part: HtmlPart): string {
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('')
  return escapeHtml(String(part))
}

/** A name or an address that may break after its dots, slashes, commas and query separators, and nowhere else. */
export const breakable = (text: string): Html =>
  new Html(escapeHtml(text).replaceAll(/\.(?=[a-z{])|\/(?=[^/])|[?]|, |&amp;/g, mark => `${mark}<wbr>`))

/** Names separated by commas. */
export const named = (names: readonly string[], lang: 'en' | 'zh'): readonly Html[] =>
  names.map((name, at) => html`${at === 0 ? '' : lang === 'zh' ? '、' : ', '}<code>${name}</code>`)

/** A table: column heads, then rows of cells. */
export const table = (
  heads: readonly string[],
  rows: readonly (readonly HtmlPart[])[],
): Html => html`<div class="wide" tabindex="0"><table class="rows">
<thead><tr>${heads.map(head => html`<th>${head}</th>`)}</tr></thead>
<tbody>${rows.map(row => html`<tr>${row.map(cell => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`
